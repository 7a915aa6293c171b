/* Ingot's cache callbacks over a Redis server. */
#ifndef INGOT_EXAMPLE_REDIS_STORE_H
#define INGOT_EXAMPLE_REDIS_STORE_H

#include "ingot/ingot.h"

typedef struct redis_store redis_store;

/* A store at a Unix socket; connects at the first use. Whoever holds the secret may run code in the processes that use
 * the store: every value is stored behind HMAC-SHA256(secret, key || value), and one that does not verify is not found.
 * NULL without memory. `socket_path` and `secret` are copied. */
redis_store* redis_store_create(const char* socket_path, const void* secret, size_t secret_size);

/* Sets the callbacks and trust in options; the context that is created with them owns the store. */
void redis_store_install(redis_store* store, ingot_context_options* options);

/* How many values were found and rejected. Valid as long as the context. */
unsigned long redis_store_rejected(redis_store* store);

#endif
