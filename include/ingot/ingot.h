/* Ingot: the C interface.
 *
 * A host describes a small graph of tensor operations (ingot_graph_*, or ingot_graph_parse), compiles it
 * (ingot_compile) and runs it on its own memory (ingot_run) at any sizes that fit. Self-contained C99; 64-bit targets.
 *
 * Conventions
 * - Functions that can fail return ingot_status*: NULL is success, anything else is owned by the caller and released
 * with ingot_status_release. When a status is returned, out-parameters and the objects passed in are as they were,
 * except that a run which had begun may have written to its outputs. No exception, abort or exit leaves the library.
 * - Handles are opaque and counted. *_create, _parse, _compile return one reference; *_release gives one back and
 * accepts NULL. A child keeps what it needs of its parents alive, so references may be released in any order.
 * - Threads: contexts, sealed graphs and executables may be used by any number of threads at once. An unsealed graph is
 *   used by one thread at a time. Statuses and buffers belong to one owner.
 * - Strings in are (pointer, length); INGOT_NUL as the length means NUL-terminated. Text is UTF-8. Strings out are
 *   borrowed from the object they come from and live as long as it does.
 * - Option structs start with struct_size and next; fill them with their INGOT_..._INIT. NULL means the defaults. An
 * older (smaller) struct gets defaults for what it lacks.
 * - Callbacks carry `user`; `destroy`, if given, is called exactly once with it after the last use, also when the call
 *   that was given it fails. Callbacks may come on any thread, with no lock held, and may call into the library. They
 *   must return normally: no exception or longjmp.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "Ingot supports 64-bit Linux"
#endif

#define INGOT_CALL
#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

#define INGOT_VERSION_MAJOR 0
#define INGOT_VERSION_MINOR 1
#define INGOT_VERSION_PATCH 0

#define INGOT_NUL SIZE_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers: append-only, zero is never valid (but in ingot_code, where it is success) ---- */

typedef int32_t ingot_code;
enum {
  INGOT_OK = 0,
  INGOT_INVALID_ARGUMENT = 1,    /* the message names the value, op or line */
  INGOT_OUT_OF_RANGE = 2,        /* an index read outside of its operand during a run */
  INGOT_UNIMPLEMENTED = 3,       /* known, and not supported by this version */
  INGOT_FAILED_PRECONDITION = 4, /* right call, wrong state: a graph not finished, a target this machine cannot run */
  INGOT_NOT_FOUND = 5,
  INGOT_OUT_OF_MEMORY = 6,
  INGOT_UNAVAILABLE = 7, /* no compiler module, or no executable memory, for a backend named explicitly */
  INGOT_CANCELLED = 8,
  INGOT_NOT_READY = 9,
  INGOT_IO_ERROR = 10,
  INGOT_INTERNAL = 11 /* a fault of Ingot's own */
};

typedef int32_t ingot_dtype;
enum {
  INGOT_BOOL = 1, /* one byte: any non-zero byte is true, 0 or 1 is written */
  INGOT_I8 = 2,
  INGOT_I16 = 3,
  INGOT_I32 = 4,
  INGOT_I64 = 5,
  INGOT_U8 = 6,
  INGOT_U16 = 7,
  INGOT_U32 = 8,
  INGOT_U64 = 9,
  INGOT_F16 = 10,
  INGOT_BF16 = 11,
  INGOT_F32 = 12,
  INGOT_F64 = 13,
  INGOT_F8E4M3 = 14,
  INGOT_F8E5M2 = 15,
  INGOT_C64 = 32,
  INGOT_C128 = 33
};

/* Ops by number. The name in the text form is the name here in lower case; `ingot ops` and docs/ops.md list operands
 * and attributes. Numbers from 0x10000 on are reserved for hosts. */
typedef uint32_t ingot_op;
enum {
  INGOT_OP_ADD = 1,
  INGOT_OP_SUB = 2,
  INGOT_OP_MUL = 3,
  INGOT_OP_DIV = 4,
  INGOT_OP_NEG = 5,
  INGOT_OP_ABS = 6,
  INGOT_OP_MIN = 7,
  INGOT_OP_MAX = 8,
  INGOT_OP_SQRT = 9,
  INGOT_OP_FLOOR = 10,
  INGOT_OP_CEIL = 11,
  INGOT_OP_ROUND = 12,
  INGOT_OP_FMA = 13,
  INGOT_OP_RSQRT = 20,
  INGOT_OP_EXP = 21,
  INGOT_OP_LOG = 22,
  INGOT_OP_TANH = 23,
  INGOT_OP_ERF = 24,
  INGOT_OP_SIGMOID = 25,
  INGOT_OP_POW = 26,
  INGOT_OP_GELU = 27,
  INGOT_OP_SILU = 28,
  INGOT_OP_RELU = 29,
  INGOT_OP_EQ = 40,
  INGOT_OP_NE = 41,
  INGOT_OP_LT = 42,
  INGOT_OP_LE = 43,
  INGOT_OP_GT = 44,
  INGOT_OP_GE = 45,
  INGOT_OP_AND = 46,
  INGOT_OP_OR = 47,
  INGOT_OP_XOR = 48,
  INGOT_OP_NOT = 49,
  INGOT_OP_SELECT = 50,
  INGOT_OP_CLAMP = 51,
  INGOT_OP_CAST = 52,
  INGOT_OP_IOTA = 60,
  INGOT_OP_RESHAPE = 61,
  INGOT_OP_TRANSPOSE = 62,
  INGOT_OP_BROADCAST = 63,
  INGOT_OP_SLICE = 64,
  INGOT_OP_PAD = 65,
  INGOT_OP_CONCAT = 66,
  INGOT_OP_REVERSE = 67,
  INGOT_OP_DIM = 68,
  INGOT_OP_REDUCE_SUM = 80,
  INGOT_OP_REDUCE_PROD = 81,
  INGOT_OP_REDUCE_MAX = 82,
  INGOT_OP_REDUCE_MIN = 83,
  INGOT_OP_REDUCE_MEAN = 84,
  INGOT_OP_REDUCE_ANY = 85,
  INGOT_OP_REDUCE_ALL = 86,
  INGOT_OP_MATMUL = 100,
  INGOT_OP_DOT_GENERAL = 101,
  INGOT_OP_SOFTMAX = 110,
  INGOT_OP_LAYER_NORM = 111,
  INGOT_OP_RMS_NORM = 112,
  INGOT_OP_EXP2 = 200,
  INGOT_OP_EXPM1 = 201,
  INGOT_OP_LOG2 = 202,
  INGOT_OP_LOG1P = 203,
  INGOT_OP_EXP10 = 204,
  INGOT_OP_LOG10 = 205,
  INGOT_OP_SIN = 206,
  INGOT_OP_COS = 207,
  INGOT_OP_TAN = 208,
  INGOT_OP_SINPI = 209,
  INGOT_OP_COSPI = 210,
  INGOT_OP_ASIN = 211,
  INGOT_OP_ACOS = 212,
  INGOT_OP_ATAN = 213,
  INGOT_OP_ATAN2 = 214,
  INGOT_OP_SINH = 215,
  INGOT_OP_COSH = 216,
  INGOT_OP_ASINH = 217,
  INGOT_OP_ACOSH = 218,
  INGOT_OP_ATANH = 219,
  INGOT_OP_CBRT = 220,
  INGOT_OP_HYPOT = 221,
  INGOT_OP_ERFC = 222,
  INGOT_OP_SOFTPLUS = 223,
  INGOT_OP_LOG_SIGMOID = 224,
  INGOT_OP_ELU = 225,
  INGOT_OP_SELU = 226,
  INGOT_OP_MISH = 227,
  INGOT_OP_LOGADDEXP = 228,
  INGOT_OP_ERFINV = 229,
  INGOT_OP_LGAMMA = 230,
  INGOT_OP_DIGAMMA = 231,
  INGOT_OP_FLOOR_DIV = 240,
  INGOT_OP_MOD = 241,
  INGOT_OP_REM = 242,
  INGOT_OP_SIGN = 243,
  INGOT_OP_RECIPROCAL = 244,
  INGOT_OP_SQUARE = 245,
  INGOT_OP_TRUNC = 246,
  INGOT_OP_COPYSIGN = 247,
  INGOT_OP_NEXTAFTER = 248,
  INGOT_OP_LDEXP = 249,
  INGOT_OP_ISNAN = 250,
  INGOT_OP_ISINF = 251,
  INGOT_OP_ISFINITE = 252,
  INGOT_OP_SIGNBIT = 253,
  INGOT_OP_SHIFT_LEFT = 254,
  INGOT_OP_SHIFT_RIGHT = 255,
  INGOT_OP_SHIFT_RIGHT_LOGICAL = 256,
  INGOT_OP_POPCOUNT = 257,
  INGOT_OP_CLZ = 258,
  INGOT_OP_CTZ = 259,
  INGOT_OP_ROTATE_LEFT = 260,
  INGOT_OP_BITCAST = 261,
  INGOT_OP_FREXP = 262,
  INGOT_OP_LEAKY_RELU = 270,
  INGOT_OP_HARDTANH = 271,
  INGOT_OP_HARDSIGMOID = 272,
  INGOT_OP_HARDSWISH = 273,
  INGOT_OP_SOFTSIGN = 274,
  INGOT_OP_SQUEEZE = 300,
  INGOT_OP_EXPAND_DIMS = 301,
  INGOT_OP_STACK = 302,
  INGOT_OP_SPLIT = 303,
  INGOT_OP_ROLL = 304,
  INGOT_OP_TILE = 305,
  INGOT_OP_REPEAT = 306,
  INGOT_OP_DIAGONAL = 307,
  INGOT_OP_TRIL = 308,
  INGOT_OP_TRIU = 309,
  INGOT_OP_EYE = 310,
  INGOT_OP_REDUCE_VAR = 330,
  INGOT_OP_REDUCE_STD = 331,
  INGOT_OP_REDUCE_LOGSUMEXP = 332,
  INGOT_OP_REDUCE_L1 = 333,
  INGOT_OP_REDUCE_L2 = 334,
  INGOT_OP_COUNT_NONZERO = 335,
  INGOT_OP_ARGMAX = 336,
  INGOT_OP_ARGMIN = 337,
  INGOT_OP_LOG_SOFTMAX = 350,
  INGOT_OP_GROUP_NORM = 351,
  INGOT_OP_INSTANCE_NORM = 352,
  INGOT_OP_BATCH_NORM = 353,
  INGOT_OP_QUANTIZE = 354,
  INGOT_OP_DEQUANTIZE = 355,
  INGOT_OP_ROPE = 356,
  INGOT_OP_CROSS_ENTROPY = 357,
  INGOT_OP_DROPOUT = 358,
  INGOT_OP_UNPACK_BITS = 359,
  INGOT_OP_BATCH_NORM_TRAINING = 360,
  INGOT_OP_ATTENTION = 361,
  INGOT_OP_GATHER = 400,
  INGOT_OP_TAKE_ALONG_AXIS = 401,
  INGOT_OP_GATHER_ND = 402,
  INGOT_OP_ONE_HOT = 403,
  INGOT_OP_SCATTER = 404,
  INGOT_OP_SCATTER_ADD = 405,
  INGOT_OP_SEARCHSORTED = 406,
  INGOT_OP_CUMSUM = 430,
  INGOT_OP_CUMPROD = 431,
  INGOT_OP_CUMMAX = 432,
  INGOT_OP_CUMMIN = 433,
  INGOT_OP_RANDOM_BITS = 440,
  INGOT_OP_RANDOM_UNIFORM = 441,
  INGOT_OP_RANDOM_NORMAL = 442,
  INGOT_OP_RANDOM_BERNOULLI = 443
};

typedef int32_t ingot_dim_kind; /* kinds of ingot_graph_dim_expr */
enum {
  INGOT_DIM_CONSTANT = 1, /* no operands; `constant` is the value */
  INGOT_DIM_ADD = 3,
  INGOT_DIM_SUB = 4,
  INGOT_DIM_MUL = 5,
  INGOT_DIM_FLOOR_DIV = 6,
  INGOT_DIM_CEIL_DIV = 7,
  INGOT_DIM_MOD = 8,
  INGOT_DIM_MIN = 9,
  INGOT_DIM_MAX = 10,
  INGOT_DIM_BCAST = 11 /* the extent that NumPy broadcasting gives */
};

typedef int32_t ingot_fact;
enum {
  INGOT_FACT_EQUAL = 1,    /* all dims are equal */
  INGOT_FACT_DIVISIBLE = 2 /* the first is divisible by the second */
};

typedef int32_t ingot_backend;
enum {
  INGOT_BACKEND_AUTO = 1, /* machine code where it can be had, else the interpreter; the bits are the same */
  INGOT_BACKEND_CPU = 2,  /* machine code or UNAVAILABLE */
  INGOT_BACKEND_INTERPRETER = 3,
  INGOT_BACKEND_CUDA = 4 /* NVIDIA GPUs, through the driver (libcuda.so.1) and, for what is in no cache, NVRTC; never
                            chosen by AUTO. docs/abi.md tells what differs in a run */
};

typedef int32_t ingot_log_level;
enum { INGOT_LOG_DEBUG = 1, INGOT_LOG_INFO = 2, INGOT_LOG_WARNING = 3, INGOT_LOG_ERROR = 4 };

/* Numerics flags of a graph, part of its text and of every key: each allows what changes bits and obliges to nothing.
 * RELAXED_PRECISION: f16 and bf16 are rounded where they are stored and nowhere else. This version takes no advantage
 * of RELAXED_CONTRACTIONS. */
enum { INGOT_GRAPH_RELAXED_PRECISION = 1, INGOT_GRAPH_RELAXED_CONTRACTIONS = 2 };

/* ---- objects ---- */

typedef struct ingot_status ingot_status;
typedef struct ingot_buffer ingot_buffer;   /* bytes owned by the library */
typedef struct ingot_context ingot_context; /* caches, threads, log, counters: one a process is usual */
typedef struct ingot_graph ingot_graph;
typedef struct ingot_executable ingot_executable;
typedef struct ingot_call ingot_call;   /* an executable with tensors bound once; used by one thread at a time */
typedef struct ingot_event ingot_event; /* the end of something that goes on in the background */

struct DLManagedTensorVersioned; /* of DLPack's header, version 1 */

typedef uint32_t ingot_value; /* a value of one graph */
typedef uint32_t ingot_dim;   /* a dim (an extent, known or symbolic) of one graph */

/* ---- tensors: the layout of DLPack's DLTensor, so that a DLTensor* may be passed where it is at hand ---- */

typedef struct ingot_device {
  int32_t type; /* DLDeviceType: 1 CPU, 2 CUDA, 13 CUDA managed memory */
  int32_t id;
} ingot_device;

typedef struct ingot_dlpack_type {
  uint8_t
      code; /* DLDataTypeCode: int 0, uint 1, float 2, bfloat 4, complex 5, bool 6, float8_e4m3fn 10, float8_e5m2 12 */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} ingot_dlpack_type;

typedef struct ingot_tensor {
  void* data; /* any alignment; may be NULL if some extent is 0 */
  ingot_device device;
  int32_t ndim;
  ingot_dlpack_type dtype;
  int64_t* shape;
  int64_t* strides;     /* in items, any sign; NULL: compact row-major. Those of extents <= 1 are ignored */
  uint64_t byte_offset; /* added to data */
} ingot_tensor;

/* ---- attributes: 48 bytes for ever ---- */

typedef int32_t ingot_attr_kind;
enum {
  INGOT_ATTR_I64 = 1,
  INGOT_ATTR_F64 = 2,
  INGOT_ATTR_STRING = 3,
  INGOT_ATTR_BOOL = 4,
  INGOT_ATTR_DTYPE = 5,
  INGOT_ATTR_DIM = 6,
  INGOT_ATTR_I64S = 7,
  INGOT_ATTR_F64S = 8,
  INGOT_ATTR_STRINGS = 9,
  INGOT_ATTR_BOOLS = 10,
  INGOT_ATTR_DTYPES = 11,
  INGOT_ATTR_DIMS = 12
};

typedef struct ingot_attr {
  const char* name;
  size_t name_length; /* or INGOT_NUL */
  ingot_attr_kind kind;
  uint32_t zero;
  union {
    int64_t i64;                /* I64; BOOL (0 or 1); DTYPE; DIM */
    double f64;                 /* F64 */
    const char* string;         /* STRING; its length is `count`, or INGOT_NUL */
    const int64_t* i64s;        /* I64S */
    const double* f64s;         /* F64S */
    const ingot_dim* dims;      /* DIMS */
    const int32_t* i32s;        /* BOOLS, DTYPES */
    const char* const* strings; /* STRINGS, NUL-terminated each */
  } value;
  size_t count; /* of lists and STRING; 0 otherwise */
  uint64_t reserved;
} ingot_attr;

/* Every option and out struct begins with its size; the rest is zero. Neither form makes a compiler ask for the other
 * members. */
#ifdef __cplusplus
extern "C++" {
template <class T>
inline T ingot_init() {
  T out = T();
  out.struct_size = sizeof(T);
  return out;
}
}
#define INGOT_INIT(type) ingot_init<type>()
#else
#define INGOT_INIT(type) {.struct_size = sizeof(type)}
#endif

/* ---- extension structs: { struct_size, next, kind, ... }; this version knows none ---- */

typedef struct ingot_ext {
  size_t struct_size;
  const struct ingot_ext* next;
  uint32_t kind;
} ingot_ext;

/* ---- callbacks ---- */

typedef void(INGOT_CALL* ingot_destroy)(void* user);
typedef void(INGOT_CALL* ingot_log_sink)(void* user, ingot_log_level level, const char* text, size_t length);
/* Looks up `key` (32 lower-case hex digits). Found: calls emit(emit_user, bytes, size) once and returns 1; else returns
 * 0. */
typedef int32_t(INGOT_CALL* ingot_cache_get)(void* user, const char* key, size_t key_length,
                                             void(INGOT_CALL* emit)(void* emit_user, const void* bytes, size_t size),
                                             void* emit_user);
typedef int32_t(INGOT_CALL* ingot_cache_put)(void* user, const char* key, size_t key_length, const void* bytes,
                                             size_t size);
/* Calls task(context, i) once for each i < tasks, on any threads, and returns when all are done. Calling them one after
 * the other is right; no task waits for another. */
typedef void(INGOT_CALL* ingot_parallel_for)(void* user, uint32_t tasks,
                                             void(INGOT_CALL* task)(void* context, uint32_t index), void* context);
/* Calls back when an event is over, with its code. */
typedef void(INGOT_CALL* ingot_done)(void* user, ingot_code code);
/* Memory of the host's for scratch and outputs: `bytes` of it, aligned to `alignment` (a power of two), or NULL. Given
 * back with the same numbers. */
typedef void*(INGOT_CALL* ingot_allocate)(void* user, size_t bytes, size_t alignment);
typedef void(INGOT_CALL* ingot_deallocate)(void* user, void* memory, size_t bytes, size_t alignment);
/* A threshold was crossed upwards. `value` is what it is now, `limit` what it must not exceed. */
typedef int32_t ingot_alarm_kind;
enum {
  INGOT_ALARM_MEMORY_CACHE = 1, /* bytes of the memory cache and its limit */
  INGOT_ALARM_DISK_CACHE = 2,   /* bytes of the disk cache, as far as this context knows them, and its limit */
  INGOT_ALARM_COMPILE_QUEUE = 3 /* kernels that wait for the compiler, and alarm_queue */
};
typedef void(INGOT_CALL* ingot_alarm)(void* user, ingot_alarm_kind kind, uint64_t value, uint64_t limit);

/* ---- options ---- */

typedef struct ingot_context_options {
  size_t struct_size;
  const ingot_ext* next;
  const char* cache_dir;         /* absolute ("" is refused); NULL: $INGOT_CACHE_DIR, else $XDG_CACHE_HOME/ingot, else
                                  * ~/.cache/ingot */
  uint32_t no_disk_cache;        /* 1: none */
  uint32_t no_threads;           /* 1: the library creates none; a compile runs on a stack of its own (8 MiB) on
                                  * the caller's thread */
  uint64_t memory_cache_bytes;   /* 0: 256 MiB */
  uint64_t memory_cache_entries; /* 0: 16384 */
  uint64_t disk_cache_bytes;     /* 0: 1 GiB */
  const char* module_dir;        /* absolute; NULL: $INGOT_MODULE_DIR, else beside libingot */
  uint32_t num_threads;          /* 0: $INGOT_NUM_THREADS, else what affinity and cgroup allow */
  uint32_t ignore_environment;   /* 1: no INGOT_* variable and no default cache place is looked at */
  ingot_log_sink log;            /* NULL: $INGOT_LOG writes to stderr, else nothing is written anywhere */
  void* log_user;
  ingot_destroy log_destroy;
  ingot_log_level log_level; /* 0: warning */
  uint32_t trust_host_cache; /* must be 1 for cache callbacks and packs to be used: what they hold is executed */
  ingot_cache_get cache_get;
  ingot_cache_put cache_put;
  void* cache_user;
  ingot_destroy cache_destroy;
  ingot_parallel_for parallel_for; /* NULL: the library's own small pool */
  void* parallel_user;
  ingot_destroy parallel_destroy;
  uint32_t parallel_width; /* how many tasks at once make sense; 0: as num_threads */
  uint32_t reserved;
  ingot_allocate allocate; /* for runs that are given none of their own; NULL: the library's. Both or neither */
  ingot_deallocate deallocate;
  void* allocator_user;
  ingot_destroy allocator_destroy;
  /* Files of ingot_executable_pack, asked in order before the cache directory; absolute, NUL-terminated, copied. They
   * too need trust_host_cache = 1. One that cannot be used costs a warning and is as good as empty. */
  const char* const* packs;
  size_t n_packs;
  ingot_alarm alarm; /* called once each time a threshold is crossed */
  void* alarm_user;
  ingot_destroy alarm_destroy;
  uint32_t alarm_cache_percent; /* of a cache's limit in bytes; 0: 90 */
  uint32_t alarm_queue;         /* kernels that wait for the compiler; 0: 64 */
} ingot_context_options;
#define INGOT_CONTEXT_OPTIONS_INIT INGOT_INIT(ingot_context_options)

typedef struct ingot_compile_options {
  size_t struct_size;
  const ingot_ext* next;
  ingot_backend backend; /* 0: INGOT_BACKEND_AUTO */
  uint32_t no_fusion;    /* 1: a kernel for every op; the bits are the same */
  const char* target;    /* "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"; NULL or "": the highest this machine
                          runs. "sm_NN" for INGOT_BACKEND_CUDA and describe's "cubin"; NULL or "" is that of the
                          device at hand. Another machine's: AUTO is interpreted, CPU and CUDA fail at the run with
                          FAILED_PRECONDITION */
} ingot_compile_options;
#define INGOT_COMPILE_OPTIONS_INIT INGOT_INIT(ingot_compile_options)

typedef struct ingot_prepare_options {
  size_t struct_size;
  const ingot_ext* next;
} ingot_prepare_options;
#define INGOT_PREPARE_OPTIONS_INIT INGOT_INIT(ingot_prepare_options)

typedef struct ingot_run_options {
  size_t struct_size;
  const ingot_ext* next;
  const uint32_t* cancel; /* read between kernels and chunks (all of a row's reduction is one); non-zero ends the
                              run with INGOT_CANCELLED */
  /* Lent memory for intermediate values, 64-byte aligned. NULL, or fewer scratch_bytes than the run needs
   * (ingot_executable_scratch_size, and more where outputs overlap inputs): the library's own. Until the run returns
   * nothing else may use it: it must not overlap an input or output of the run, a borrowed constant, `cancel`, or what
   * another run under way was lent. Its contents afterwards are unspecified. For INGOT_BACKEND_CUDA it is device
   * memory, lent until the stream has got past the run, and runs on one stream may share it. */
  void* scratch;
  uint64_t scratch_bytes;
  uint32_t serial;      /* 1: on the calling thread alone */
  uint32_t never_stall; /* 1: where machine code is not there yet it is prepared in the background (not with no_threads)
                           and this run is served by the interpreter, with the same bits; of an executable compiled for
                           INGOT_BACKEND_CPU or _CUDA it returns INGOT_NOT_READY */
  ingot_allocate allocate; /* for scratch that is not lent, and for outputs of ingot_run_allocating; NULL: the context's
                              allocator, else the library's own memory, which it keeps for the next run */
  ingot_deallocate deallocate;
  void* allocator_user; /* has to outlive what was allocated */
  void* stream;         /* INGOT_BACKEND_CUDA: the CUstream (or cudaStream_t) to enqueue on; NULL: the default stream */
} ingot_run_options;
#define INGOT_RUN_OPTIONS_INIT INGOT_INIT(ingot_run_options)

/* ---- information out ---- */

/* Counters of a context since its creation. Fill struct_size before the call. */
typedef struct ingot_stats {
  size_t struct_size;
  uint64_t graphs;      /* executables made, those of subsets too */
  uint64_t kernels;     /* distinct kernels of each of them, summed */
  uint64_t compiles;    /* kernels compiled to machine code */
  uint64_t compile_ns;  /* wall time of those compiles, summed, also where they ran at once */
  uint64_t memory_hits; /* kernels that an executable found in the memory cache */
  uint64_t disk_hits;   /* host callbacks included */
  uint64_t misses;      /* kernels found in no cache, each once */
  uint64_t interpreted; /* kernels for which no machine code can be had (no compiler, another machine's target); those
                           that never_stall serves meanwhile do not count */
  uint64_t runs;        /* that ended well */
  uint64_t launches;    /* of kernels, and of the steps that are none (gathered rows, scatter, searchsorted) */
  uint64_t bytes_read;  /* by launches, each view of a tensor counted once; what is gathered, by the times */
  uint64_t bytes_written;
  uint64_t memory_cache_bytes;
  uint64_t memory_cache_entries;
  uint64_t evictions;       /* from the memory cache, by its limits and by ingot_context_trim */
  uint64_t compiler_loaded; /* 1 once the compiler module is in this process */
  uint64_t pack_hits;
  /* Asked of disk and host callbacks in vain, by reason (a kernel that several threads want at once may count for
   * each). */
  uint64_t missed_absent;     /* nothing under that key */
  uint64_t missed_damaged;    /* damaged, or of another format; removed where it can be */
  uint64_t missed_unreadable; /* could not be read, or is not ours to trust */
  uint64_t missed_collision;  /* another key of the same hash */
  uint64_t missed_disabled;   /* there is neither a disk cache nor callbacks */
  /* Held at this moment, in bytes. */
  uint64_t code_resident; /* machine code and cubins: of the memory cache, and of executables alone */
  uint64_t code_pinned;   /* of that what executables hold, which ingot_context_trim cannot free */
  uint64_t scratch_kept;  /* for the next runs */
  uint64_t forks; /* times that a run handed work to several threads: once for launches that need nothing of each other,
                     and again for each pass over rows that are split among threads */
} ingot_stats;
#define INGOT_STATS_INIT INGOT_INIT(ingot_stats)

/* An input or output of an executable. The pointers live as long as the executable. */
typedef struct ingot_io_info {
  size_t struct_size;
  const char* name; /* NUL-terminated; "" if it has none */
  ingot_dtype dtype;
  uint32_t rank;
  const int64_t* extents; /* rank of them; -1 where the extent is symbolic */
  const char* shape_text; /* "[B, 2*N]" */
} ingot_io_info;
#define INGOT_IO_INFO_INIT INGOT_INIT(ingot_io_info)

/* Returned by ingot_get_proc_table: every function of this header by name, for hosts that dlopen. Slots are only ever
 * added at the end; struct_size tells how many there are. */
typedef struct ingot_proc_table ingot_proc_table;

/* ---- functions ---- */

#define INGOT_ENTRY(minor, ret, name, params) INGOT_API ret INGOT_CALL name params;
#include "ingot/entries.def"
#undef INGOT_ENTRY

struct ingot_proc_table {
  size_t struct_size;
#define INGOT_ENTRY(minor, ret, name, params) ret(INGOT_CALL* name) params;
#include "ingot/entries.def"
#undef INGOT_ENTRY
};

#ifdef __cplusplus
}
#endif

#endif
