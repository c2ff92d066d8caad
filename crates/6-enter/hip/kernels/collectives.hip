// Kernels of the stand-in for RCCL: elements of all ranks reduced into all or one.
// Built by build.sh for every target into one bundle. No header of ROCm is needed.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE static inline __attribute__((device, always_inline))

typedef _Float16 f16;
struct bf16 { unsigned short bits; };

// Numbers as they are added up.
template <class T> DEVICE T wide(T x) { return x; }
DEVICE float wide(f16 x) { return (float)x; }
DEVICE float wide(bf16 x) { return __builtin_bit_cast(float, (unsigned)x.bits << 16); }
template <class T> DEVICE void narrow(T x, T &to) { to = x; }
DEVICE void narrow(float x, f16 &to) { to = (f16)x; }
DEVICE void narrow(float x, bf16 &to) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  // Round to nearest even; a NaN stays one.
  to.bits = x != x ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

enum { SUM, PRODUCT, MOST, LEAST, MEAN };
template <class T> DEVICE T joined(T a, T b, int op) {
  switch (op) {
  case PRODUCT: return a * b;
  case MOST: return a > b ? a : b;
  case LEAST: return a < b ? a : b;
  default: return a + b;
  }
}

// The part of a rank: elements `first` to `first + count` of what `ranks` ranks send, into `outputs` buffers, where they
// begin at `at`. `buffers` has the addresses of both.
template <class T> DEVICE void reduce(const unsigned long *buffers, long first, long count, long at, int ranks, int outputs, int op) {
  long i = __builtin_amdgcn_workgroup_id_x() * 256L + __builtin_amdgcn_workitem_id_x();
  if (i >= count) return;
  auto sum = wide(((const T *)buffers[0])[first + i]);
  for (int rank = 1; rank < ranks; rank++) sum = joined(sum, wide(((const T *)buffers[rank])[first + i]), op);
  if (op == MEAN) sum /= ranks;
  T result;
  narrow(sum, result);
  for (int output = 0; output < outputs; output++) ((T *)buffers[ranks + output])[at + i] = result;
}

#define REDUCE(NAME, T)                                                                                                \
  GLOBAL void rockhound_reduce_##NAME(const unsigned long *buffers, long first, long count, long at, int ranks,        \
                                      int outputs, int op) {                                                           \
    reduce<T>(buffers, first, count, at, ranks, outputs, op);                                                          \
  }
REDUCE(i8, signed char)
REDUCE(u8, unsigned char)
REDUCE(i32, int)
REDUCE(u32, unsigned)
REDUCE(i64, long)
REDUCE(u64, unsigned long)
REDUCE(f16, f16)
REDUCE(f32, float)
REDUCE(f64, double)
REDUCE(bf16, bf16)
