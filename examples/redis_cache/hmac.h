/* HMAC-SHA256 (RFC 2104, FIPS 180-4), so that the example needs no cryptographic library. A host that has one uses
 * that. */
#ifndef INGOT_EXAMPLE_HMAC_H
#define INGOT_EXAMPLE_HMAC_H

#include <stddef.h>
#include <stdint.h>

enum { hmac_size = 32 };

/* The code of `a` followed by `b` under the key, which may have any length. */
void hmac_sha256(const void* key, size_t key_size, const void* a, size_t a_size, const void* b, size_t b_size,
                 uint8_t out[hmac_size]);

/* Whether two codes are equal, in a time that does not tell where they differ. */
int hmac_equal(const uint8_t a[hmac_size], const uint8_t b[hmac_size]);

#endif
