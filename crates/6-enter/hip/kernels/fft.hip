// Kernels of the stand-ins for Fourier transforms and random numbers.
#define GLOBAL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define DEVICE static inline __attribute__((device, always_inline))
#include "math.h"

template <class T> struct complex { T re, im; };
DEVICE long index() { return (long)__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x(); }
DEVICE unsigned batch() { return __builtin_amdgcn_workgroup_id_y(); }

// One stage of a transform of lines of `length` elements, `inner` apart: `done` is the length of the transforms
// that the stages before made, `radix` what this one multiplies it with. `roots` are the powers of the root of
// unity of `length`, conjugated for the other direction.
struct Stage { const void *from; void *to; const void *roots; long count, length, inner, done, radix; };

template <class T> DEVICE void stage(const Stage &s) {
  long at = index();
  if (at >= s.count) return;
  long inner = at % s.inner, line = at / s.inner / s.length, place = at / s.inner % s.length;
  long made = s.done * s.radix, k = place % made, j = place / made, apart = s.length / made;
  const complex<T> *from = (const complex<T> *)s.from + (line * s.length * s.inner + inner);
  const complex<T> *roots = (const complex<T> *)s.roots;
  complex<T> sum{};
  for (long q = 0; q < s.radix; q++) {
    complex<T> x = from[(k % s.done + s.done * (j + apart * q)) * s.inner], w = roots[q * k % made * apart];
    sum.re += x.re * w.re - x.im * w.im;
    sum.im += x.re * w.im + x.im * w.re;
  }
  ((complex<T> *)s.to)[at] = sum;
}
GLOBAL void rockhound_fft_f32(Stage s) { stage<float>(s); }
GLOBAL void rockhound_fft_f64(Stage s) { stage<double>(s); }

// Between the caller's layout and complex elements in rows. `kind`: 0 complex, 1 real, 2 the first half of a
// Hermitian array along the last axis. Results are multiplied with `scale`.
struct Layout { const void *from; void *to; long count, sizes[3], strides[3], distance; int kind, is_store; double scale; };

template <class T> DEVICE void convert(const Layout &l) {
  long at = index();
  if (at >= l.count) return;
  long c = at % l.sizes[2], b = at / l.sizes[2] % l.sizes[1], a = at / l.sizes[2] / l.sizes[1];
  complex<T> *rows = (complex<T> *)(l.is_store ? l.from : l.to) + batch() * l.count + at;
  bool mirrored = l.kind == 2 && c > l.sizes[2] / 2;
  if (mirrored) {
    if (l.is_store) return;
    c = l.sizes[2] - c, b = b ? l.sizes[1] - b : 0, a = a ? l.sizes[0] - a : 0;
  }
  long place = batch() * l.distance + a * l.strides[0] + b * l.strides[1] + c * l.strides[2];
  void *other = l.is_store ? l.to : (void *)l.from;
  if (l.kind == 1) {
    if (l.is_store) ((T *)other)[place] = rows->re * (T)l.scale;
    else *rows = {((T *)other)[place], 0};
  } else if (l.is_store) {
    ((complex<T> *)other)[place] = {rows->re * (T)l.scale, rows->im * (T)l.scale};
  } else {
    complex<T> x = ((complex<T> *)other)[place];
    *rows = {x.re, mirrored ? -x.im : x.im};
  }
}
GLOBAL void rockhound_fft_layout_f32(Layout l) { convert<float>(l); }
GLOBAL void rockhound_fft_layout_f64(Layout l) { convert<double>(l); }

// Random numbers: Philox 4x32-10, a block of four words for each counter.
struct Words { unsigned w[4]; };
DEVICE Words philox(unsigned long seed, unsigned long counter) {
  unsigned k0 = seed, k1 = seed >> 32, c0 = counter, c1 = counter >> 32, c2 = 0, c3 = 0;
  for (int round = 0; round < 10; round++) {
    unsigned long p = 0xd2511f53ul * c0, q = 0xcd9e8d57ul * c2;
    unsigned n0 = (unsigned)(q >> 32) ^ c1 ^ k0, n2 = (unsigned)(p >> 32) ^ c3 ^ k1;
    c1 = q, c3 = p, c0 = n0, c2 = n2;
    k0 += 0x9e3779b9, k1 += 0xbb67ae85;
  }
  return {{c0, c1, c2, c3}};
}
// (0, 1]
DEVICE float uniform(unsigned word) { return word * 2.3283064e-10f + 1.1641532e-10f; }
DEVICE double uniform(unsigned low, unsigned high) {
  return (((unsigned long)high << 32 | low) >> 11) * 1.1102230246251565e-16 + 1.1102230246251565e-16;
}
// Sine and cosine of 2 pi u for u in (0, 1].
DEVICE void turn(double u, double &sine, double &cosine) {
  double q = __builtin_rint(u * 4), r = (u * 4 - q) * 1.5707963267948966, s = r * r, a = 0, b = 0;
  for (int i = 17; i >= 1; i -= 2) a = 1 - a * s / ((i + 1) * (i + 2));
  for (int i = 16; i >= 0; i -= 2) b = 1 - b * s / ((i + 1) * (i + 2));
  a *= r;
  int quarter = (int)q & 3;
  sine = quarter == 0 ? a : quarter == 1 ? b : quarter == 2 ? -a : -b;
  cosine = quarter == 0 ? b : quarter == 1 ? -a : quarter == 2 ? -b : a;
}
enum { WORDS, UNIFORM, NORMAL, LOG_NORMAL, POISSON };
struct Random { void *to; unsigned long seed, offset; long count; double mean, deviation; int what; };

DEVICE double shaped(const Random &r, double x) {
  double y = r.mean + r.deviation * x;
  return r.what == LOG_NORMAL ? exp_of(y) : y;
}
// Values of four bytes: four for each counter.
GLOBAL void rockhound_random_f32(Random r) {
  long first = index() * 4;
  if (first >= r.count) return;
  Words words = philox(r.seed, r.offset + index());
  double normal[4];
  if (r.what == NORMAL || r.what == LOG_NORMAL)
    for (int i = 0; i < 4; i += 2) {
      double size = __builtin_sqrt(-2 * log_of(uniform(words.w[i]))), sine, cosine;
      turn(uniform(words.w[i + 1]), sine, cosine);
      normal[i] = size * cosine, normal[i + 1] = size * sine;
    }
  for (int i = 0; i < 4 && first + i < r.count; i++) {
    float *to = (float *)r.to + first + i;
    if (r.what == WORDS) *(unsigned *)to = words.w[i];
    else if (r.what == UNIFORM) *to = uniform(words.w[i]);
    else if (r.what == POISSON) {
      // Products of uniform numbers until they are below exp(-mean).
      unsigned long counter = (r.offset + index()) * 4 + i;
      double product = 1, limit = exp_of(-r.mean);
      unsigned count = 0;
      for (unsigned block = 0;; block++) {
        Words more = philox(r.seed ^ 0x706f6973736f6eul, counter << 24 | block);
        int j = 0;
        for (; j < 4 && (product *= uniform(more.w[j])) > limit; j++) count++;
        if (j < 4) break;
      }
      *(unsigned *)to = count;
    } else *to = (float)shaped(r, normal[i]);
  }
}
// Values of eight bytes: two for each counter.
GLOBAL void rockhound_random_f64(Random r) {
  long first = index() * 2;
  if (first >= r.count) return;
  Words words = philox(r.seed, r.offset + index());
  double u = uniform(words.w[0], words.w[1]), v = uniform(words.w[2], words.w[3]), pair[2] = {u, v};
  if (r.what != UNIFORM) {
    double size = __builtin_sqrt(-2 * log_of(u)), sine, cosine;
    turn(v, sine, cosine);
    pair[0] = shaped(r, size * cosine), pair[1] = shaped(r, size * sine);
  }
  for (int i = 0; i < 2 && first + i < r.count; i++) ((double *)r.to)[first + i] = pair[i];
}
