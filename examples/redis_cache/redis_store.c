#define _POSIX_C_SOURCE 200809L

#include "redis_store.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hmac.h"

enum { timeout_ms = 200, retry_after_s = 5, keep_for_s = 30 * 24 * 3600 };

/* One connection, since hiredis has none to share: Ingot calls from any of its threads, several at once. */
struct redis_store {
  pthread_mutex_t lock;
  redisContext* redis;
  time_t not_before; /* a server that is down must cost one time-out now and then, not one for each kernel */
  unsigned long rejected;
  char* socket_path;
  void* secret;
  size_t secret_size;
};

static time_t seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec;
}

static void disconnect(redis_store* s) {
  if (s->redis) redisFree(s->redis);
  s->redis = NULL;
  s->not_before = seconds() + retry_after_s;
}

static int connected(redis_store* s) {
  const struct timeval limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
  if (s->redis) return 1;
  if (seconds() < s->not_before) return 0;
  s->redis = redisConnectUnixWithTimeout(s->socket_path, limit);
  if (s->redis && !s->redis->err && redisSetTimeout(s->redis, limit) == REDIS_OK) return 1;
  disconnect(s);
  return 0;
}

/* The reply, which the caller frees; NULL, and the connection is gone, if there is none in time. */
static redisReply* ask(redis_store* s, int argc, const char** argv, const size_t* sizes) {
  redisReply* reply = connected(s) ? redisCommandArgv(s->redis, argc, argv, sizes) : NULL;
  if (!reply && s->redis) disconnect(s);
  return reply;
}

static int32_t INGOT_CALL get(void* user, const char* key, size_t key_length,
                              void(INGOT_CALL* emit)(void* emit_user, const void* bytes, size_t size),
                              void* emit_user) {
  redis_store* s = user;
  const char* command[] = {"GET", key};
  const size_t sizes[] = {3, key_length};
  int found = 0;
  pthread_mutex_lock(&s->lock);
  redisReply* reply = ask(s, 2, command, sizes);
  if (reply && reply->type == REDIS_REPLY_STRING) {
    const size_t size = (size_t)reply->len;
    if (size >= hmac_size) {
      uint8_t code[hmac_size];
      hmac_sha256(s->secret, s->secret_size, key, key_length, reply->str + hmac_size, size - hmac_size, code);
      found = hmac_equal(code, (const uint8_t*)reply->str);
    }
    s->rejected += !found;
  }
  pthread_mutex_unlock(&s->lock);
  if (found) emit(emit_user, reply->str + hmac_size, (size_t)reply->len - hmac_size);
  if (reply) freeReplyObject(reply);
  return found;
}

static int32_t INGOT_CALL put(void* user, const char* key, size_t key_length, const void* bytes, size_t size) {
  redis_store* s = user;
  uint8_t* value = malloc(hmac_size + size);
  if (!value) return 0;
  hmac_sha256(s->secret, s->secret_size, key, key_length, bytes, size, value);
  memcpy(value + hmac_size, bytes, size);
  char keep_for[20];
  const int digits = snprintf(keep_for, sizeof keep_for, "%d", keep_for_s);
  const char* command[] = {"SET", key, (const char*)value, "EX", keep_for};
  const size_t sizes[] = {3, key_length, hmac_size + size, 2, (size_t)digits};
  pthread_mutex_lock(&s->lock);
  redisReply* reply = ask(s, 5, command, sizes);
  pthread_mutex_unlock(&s->lock);
  const int stored = reply && reply->type == REDIS_REPLY_STATUS;
  if (reply) freeReplyObject(reply);
  free(value);
  return stored;
}

static void INGOT_CALL destroy(void* user) {
  redis_store* s = user;
  if (s->redis) redisFree(s->redis);
  pthread_mutex_destroy(&s->lock);
  free(s->secret);
  free(s->socket_path);
  free(s);
}

redis_store* redis_store_create(const char* socket_path, const void* secret, size_t secret_size) {
  redis_store* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  pthread_mutex_init(&s->lock, NULL);
  s->socket_path = strdup(socket_path);
  s->secret = malloc(secret_size);
  s->secret_size = secret_size;
  if (!s->socket_path || !s->secret) {
    destroy(s);
    return NULL;
  }
  memcpy(s->secret, secret, secret_size);
  return s;
}

void redis_store_install(redis_store* store, ingot_context_options* options) {
  options->trust_host_cache = 1; /* earned by the codes, as far as the secret is one */
  options->cache_get = get;
  options->cache_put = put;
  options->cache_user = store;
  options->cache_destroy = destroy;
}

unsigned long redis_store_rejected(redis_store* store) {
  pthread_mutex_lock(&store->lock);
  const unsigned long n = store->rejected;
  pthread_mutex_unlock(&store->lock);
  return n;
}
