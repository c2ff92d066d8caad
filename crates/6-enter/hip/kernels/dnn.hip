// Kernels of the stand-in for MIOpen: convolutions, pooling, normalization, activations, softmax, reductions, and
// operations on tensors. Built by build.sh for every target into one bundle. No header of ROCm is needed.
#define GLOBAL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define DEVICE static inline __attribute__((device, always_inline))
#include "math.h"

typedef _Float16 f16;
struct bf16 { unsigned short bits; };
DEVICE float wide(f16 x) { return (float)x; }
DEVICE float wide(float x) { return x; }
DEVICE double wide(double x) { return x; }
DEVICE float wide(bf16 x) { return __builtin_bit_cast(float, (unsigned)x.bits << 16); }
DEVICE void narrow(float x, f16 &to) { to = (f16)x; }
DEVICE void narrow(float x, float &to) { to = x; }
DEVICE void narrow(double x, double &to) { to = x; }
DEVICE void narrow(float x, bf16 &to) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  // Round to nearest even; a NaN stays one.
  to.bits = x != x ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}
template <class T> using Wide = decltype(wide(T{}));

DEVICE long index() { return (long)__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x(); }

// A tensor of five axes: for images, which image, channel, depth, height, width.
struct Tensor { void *at; long sizes[5], steps[5]; };
struct Place { long of[5]; };

DEVICE long count(const Tensor &t) { return t.sizes[0] * t.sizes[1] * t.sizes[2] * t.sizes[3] * t.sizes[4]; }
DEVICE Place place(const Tensor &t, long at) {
  Place p;
  for (int axis = 4; axis >= 0; axis--) p.of[axis] = at % t.sizes[axis], at /= t.sizes[axis];
  return p;
}
// Axes of one element are repeated.
DEVICE long offset(const Tensor &t, const Place &p) {
  long sum = 0;
  for (int axis = 0; axis < 5; axis++) sum += t.sizes[axis] == 1 ? 0 : p.of[axis] * t.steps[axis];
  return sum;
}
template <class T> DEVICE Wide<T> get(const Tensor &t, const Place &p) { return wide(((const T *)t.at)[offset(t, p)]); }
// to = alpha value + beta to; what is not asked for is not read.
template <class T> DEVICE void set(const Tensor &t, const Place &p, Wide<T> value, double alpha, double beta) {
  T *to = (T *)t.at + offset(t, p);
  Wide<T> sum = (Wide<T>)alpha * value;
  if (beta != 0) sum += (Wide<T>)beta * wide(*to);
  narrow(sum, *to);
}

// Along depth, height and width.
struct Window { int pad[3], step[3], apart[3], groups; };
struct Convolution { Tensor x, w, y; Window by; double alpha, beta; };

template <class T> DEVICE void forward(const Convolution &c) {
  long at = index();
  if (at >= count(c.y)) return;
  Place p = place(c.y, at);
  long channels = c.w.sizes[1], first = p.of[1] / (c.y.sizes[1] / c.by.groups) * channels;
  Wide<T> sum = 0;
  Place x = p, w;
  w.of[0] = p.of[1];
  for (long d = 0; d < c.w.sizes[2]; d++) for (long h = 0; h < c.w.sizes[3]; h++) for (long v = 0; v < c.w.sizes[4]; v++) {
    long tap[3] = {d, h, v};
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
      long of = p.of[axis + 2] * c.by.step[axis] - c.by.pad[axis] + tap[axis] * c.by.apart[axis];
      inside &= of >= 0 && of < c.x.sizes[axis + 2];
      x.of[axis + 2] = of, w.of[axis + 2] = tap[axis];
    }
    if (!inside) continue;
    for (long channel = 0; channel < channels; channel++) {
      x.of[1] = first + channel, w.of[1] = channel;
      sum += get<T>(c.x, x) * get<T>(c.w, w);
    }
  }
  set<T>(c.y, p, sum, c.alpha, c.beta);
}

// The gradient of x, from the gradient in y.
template <class T> DEVICE void backward(const Convolution &c) {
  long at = index();
  if (at >= count(c.x)) return;
  Place p = place(c.x, at);
  long channels = c.w.sizes[1], outputs = c.y.sizes[1] / c.by.groups, group = p.of[1] / channels;
  Wide<T> sum = 0;
  Place y = p, w;
  w.of[1] = p.of[1] % channels;
  for (long d = 0; d < c.w.sizes[2]; d++) for (long h = 0; h < c.w.sizes[3]; h++) for (long v = 0; v < c.w.sizes[4]; v++) {
    long tap[3] = {d, h, v};
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
      long from = p.of[axis + 2] + c.by.pad[axis] - tap[axis] * c.by.apart[axis], of = from / c.by.step[axis];
      inside &= from >= 0 && of * c.by.step[axis] == from && of < c.y.sizes[axis + 2];
      y.of[axis + 2] = of, w.of[axis + 2] = tap[axis];
    }
    if (!inside) continue;
    for (long output = group * outputs; output < (group + 1) * outputs; output++) {
      y.of[1] = output, w.of[0] = output;
      sum += get<T>(c.y, y) * get<T>(c.w, w);
    }
  }
  set<T>(c.x, p, sum, c.alpha, c.beta);
}

// The gradient of w, from the gradient in y.
template <class T> DEVICE void weights(const Convolution &c) {
  long at = index();
  if (at >= count(c.w)) return;
  Place p = place(c.w, at), x, y;
  long outputs = c.y.sizes[1] / c.by.groups;
  x.of[1] = p.of[0] / outputs * c.w.sizes[1] + p.of[1], y.of[1] = p.of[0];
  Wide<T> sum = 0;
  for (long n = 0; n < c.y.sizes[0]; n++) for (long d = 0; d < c.y.sizes[2]; d++) for (long h = 0; h < c.y.sizes[3]; h++) for (long v = 0; v < c.y.sizes[4]; v++) {
    long of[3] = {d, h, v};
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
      long from = of[axis] * c.by.step[axis] - c.by.pad[axis] + p.of[axis + 2] * c.by.apart[axis];
      inside &= from >= 0 && from < c.x.sizes[axis + 2];
      x.of[axis + 2] = from, y.of[axis + 2] = of[axis];
    }
    x.of[0] = n, y.of[0] = n;
    if (inside) sum += get<T>(c.x, x) * get<T>(c.y, y);
  }
  set<T>(c.w, p, sum, c.alpha, c.beta);
}

enum { HIGHEST, MEAN_OF_WHAT_IS_THERE, MEAN };
struct Pooling { Tensor x, y; Window by; int size[3], mode; double alpha, beta; };

template <class T> DEVICE void pool(const Pooling &c) {
  long at = index();
  if (at >= count(c.y)) return;
  Place p = place(c.y, at), x = p;
  Wide<T> sum = c.mode == HIGHEST ? -__builtin_inf() : 0;
  long there = 0;
  for (int d = 0; d < c.size[0]; d++) for (int h = 0; h < c.size[1]; h++) for (int v = 0; v < c.size[2]; v++) {
    int tap[3] = {d, h, v};
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
      x.of[axis + 2] = p.of[axis + 2] * c.by.step[axis] - c.by.pad[axis] + tap[axis];
      inside &= x.of[axis + 2] >= 0 && x.of[axis + 2] < c.x.sizes[axis + 2];
    }
    if (!inside) continue;
    Wide<T> value = get<T>(c.x, x);
    sum = c.mode != HIGHEST ? sum + value : value > sum || value != value ? value : sum;
    there++;
  }
  if (c.mode == MEAN_OF_WHAT_IS_THERE && there) sum /= there;
  if (c.mode == MEAN) sum /= c.size[0] * c.size[1] * c.size[2];
  set<T>(c.y, p, sum, c.alpha, c.beta);
}

enum { PASS, LOGISTIC, TANH, RELU, SOFT_RELU, MAGNITUDE, POWER, CLIPPED_RELU, LEAKY_RELU, ELU };
struct Activation { Tensor x, y; double a, b, c, alpha, beta; int mode; };

DEVICE double activated(const Activation &f, double x) {
  switch (f.mode) {
  case LOGISTIC: return 1 / (1 + exp_of(-x));
  case TANH: {
    double e = exp_of(-2 * __builtin_fabs(f.b * x)), t = (1 - e) / (1 + e);
    return f.a * (f.b * x < 0 ? -t : t);
  }
  case RELU: return x > 0 ? x : x != x ? x : 0;
  case SOFT_RELU: return (x > 0 ? x : 0) + log_of(1 + exp_of(-__builtin_fabs(x)));
  case MAGNITUDE: return __builtin_fabs(x);
  case POWER: {
    double base = f.a + f.b * x;
    return base <= 0 ? 0 : exp_of(f.c * log_of(base));
  }
  case CLIPPED_RELU: return x < 0 ? 0 : x > f.a ? f.a : x;
  case LEAKY_RELU: return x > 0 ? x : f.a * x;
  case ELU: return x > 0 ? x : f.a * (exp_of(x) - 1);
  default: return x;
  }
}
template <class T> DEVICE void activate(const Activation &f) {
  long at = index();
  if (at >= count(f.y)) return;
  Place p = place(f.y, at);
  set<T>(f.y, p, (Wide<T>)activated(f, get<T>(f.x, p)), f.alpha, f.beta);
}

// c = op(first a, second b) + beta c; axes of one element of b are repeated.
enum { ADD, MULTIPLY, LOWEST_OF_TWO, HIGHEST_OF_TWO, FIRST };
struct Elementwise { Tensor a, b, c; double first, second, beta; int op; };
template <class T> DEVICE void elementwise(const Elementwise &e) {
  long at = index();
  if (at >= count(e.c)) return;
  Place p = place(e.c, at);
  Wide<T> a = (Wide<T>)e.first * get<T>(e.a, p), result = a;
  if (e.op != FIRST) {
    Wide<T> b = (Wide<T>)e.second * get<T>(e.b, p);
    result = e.op == ADD ? a + b : e.op == MULTIPLY ? a * b : e.op == LOWEST_OF_TWO ? (a < b ? a : b) : a > b ? a : b;
  }
  set<T>(e.c, p, result, 1, e.beta);
}

// y = alpha value everywhere.
struct Fill { Tensor y; double value; };
template <class T> DEVICE void fill(const Fill &f) {
  long at = index();
  if (at < count(f.y)) set<T>(f.y, place(f.y, at), (Wide<T>)f.value, 1, 0);
}

// Scale, bias, mean and variance are floats, with axes of one element where they hold for all.
struct Normalization { Tensor x, y, scale, bias, mean, variance; double epsilon, alpha, beta; };
template <class T> DEVICE void normalize(const Normalization &n) {
  long at = index();
  if (at >= count(n.y)) return;
  Place p = place(n.y, at);
  double root = __builtin_elementwise_sqrt((double)get<float>(n.variance, p) + n.epsilon);
  double value = ((double)get<T>(n.x, p) - get<float>(n.mean, p)) / root;
  set<T>(n.y, p, (Wide<T>)(get<float>(n.scale, p) * value + get<float>(n.bias, p)), n.alpha, n.beta);
}

// Mean and variance of what shares a scale, and running ones moved towards them by `part`. What is not wanted is null.
struct Moments { Tensor x, scale; float *mean, *variance, *running_mean, *running_variance, *saved_mean, *saved_inverse; double part, epsilon; };
template <class T> DEVICE void moments(const Moments &m) {
  long at = index();
  if (at >= count(m.scale)) return;
  Place p = place(m.scale, at);
  double sum = 0, squares = 0;
  long all = 0, step = 1;
  for (int axis = 0; axis < 5; axis++) step *= m.scale.sizes[axis] == 1 ? m.x.sizes[axis] : 1;
  for (int pass = 0; pass < 2; pass++) for (long i = 0; i < step; i++) {
    long rest = i;
    Place x = p;
    for (int axis = 4; axis >= 0; axis--) if (m.scale.sizes[axis] == 1) x.of[axis] = rest % m.x.sizes[axis], rest /= m.x.sizes[axis];
    double value = get<T>(m.x, x);
    if (pass) squares += (value - sum / all) * (value - sum / all);
    else sum += value, all++;
  }
  double mean = sum / all, variance = squares / all;
  long to = offset(m.scale, p);
  m.mean[to] = mean, m.variance[to] = variance;
  if (m.running_mean) m.running_mean[to] = (1 - m.part) * m.running_mean[to] + m.part * mean;
  double sample = all > 1 ? squares / (all - 1) : variance;
  if (m.running_variance) m.running_variance[to] = (1 - m.part) * m.running_variance[to] + m.part * sample;
  if (m.saved_mean) m.saved_mean[to] = mean;
  if (m.saved_inverse) m.saved_inverse[to] = 1 / __builtin_elementwise_sqrt(variance + m.epsilon);
}

// Along the channels, or along all axes but the first; a work-item for each line.
struct Softmax { Tensor x, y; double alpha, beta; int is_log, is_of_channels; };
template <class T> DEVICE void softmax(const Softmax &s) {
  long at = index(), channels = s.y.sizes[1];
  long inner = s.is_of_channels ? 1 : s.y.sizes[2] * s.y.sizes[3] * s.y.sizes[4];
  long lines = count(s.y) / (channels * inner);
  if (at >= lines) return;
  Place p;
  long rest = at;
  for (int axis = 4; axis >= 2; axis--) {
    long size = s.is_of_channels ? s.y.sizes[axis] : 1;
    p.of[axis] = rest % size, rest /= size;
  }
  p.of[0] = rest;
  double most = -__builtin_inf(), sum = 0;
  for (int pass = 0; pass < 3; pass++) for (long i = 0; i < channels * inner; i++) {
    p.of[1] = i / inner;
    if (!s.is_of_channels) {
      long in = i % inner;
      p.of[4] = in % s.y.sizes[4], p.of[3] = in / s.y.sizes[4] % s.y.sizes[3], p.of[2] = in / s.y.sizes[4] / s.y.sizes[3];
    }
    double x = get<T>(s.x, p);
    if (pass == 0) most = x > most ? x : most;
    if (pass == 1) sum += exp_of(x - most);
    if (pass == 2) set<T>(s.y, p, (Wide<T>)(s.is_log ? x - most - log_of(sum) : exp_of(x - most) / sum), s.alpha, s.beta);
  }
}

// Along the axes that have one element in y; a work-item for each element of y.
enum { SUM, PRODUCT, LOWEST, MOST, MOST_MAGNITUDE, AVERAGE, NORM_1, NORM_2 };
struct Reduction { Tensor x, y; unsigned *places; double alpha, beta; int op; };
template <class T> DEVICE void reduce(const Reduction &r) {
  long at = index();
  if (at >= count(r.y)) return;
  Place p = place(r.y, at);
  long all = 1, best = 0;
  for (int axis = 0; axis < 5; axis++) all *= r.y.sizes[axis] == 1 ? r.x.sizes[axis] : 1;
  double sum = r.op == PRODUCT ? 1 : r.op == LOWEST ? __builtin_inf() : r.op == MOST ? -__builtin_inf() : r.op == MOST_MAGNITUDE ? -1 : 0;
  for (long i = 0; i < all; i++) {
    long rest = i;
    Place x = p;
    for (int axis = 4; axis >= 0; axis--) if (r.y.sizes[axis] == 1) x.of[axis] = rest % r.x.sizes[axis], rest /= r.x.sizes[axis];
    double value = get<T>(r.x, x), size = __builtin_fabs(value);
    switch (r.op) {
    case PRODUCT: sum *= value; break;
    case LOWEST: if (value < sum) sum = value, best = i; break;
    case MOST: if (value > sum) sum = value, best = i; break;
    case MOST_MAGNITUDE: if (size > sum) sum = size, best = i; break;
    case NORM_1: sum += size; break;
    case NORM_2: sum += value * value; break;
    default: sum += value;
    }
  }
  if (r.op == AVERAGE) sum /= all;
  if (r.op == NORM_2) sum = __builtin_elementwise_sqrt(sum);
  set<T>(r.y, p, (Wide<T>)sum, r.alpha, r.beta);
  if (r.places) r.places[at] = best;
}

#define FOR(NAME, T)                                                                                                   \
  GLOBAL void rockhound_dnn_forward_##NAME(Convolution a) { forward<T>(a); }                                           \
  GLOBAL void rockhound_dnn_backward_##NAME(Convolution a) { backward<T>(a); }                                         \
  GLOBAL void rockhound_dnn_weights_##NAME(Convolution a) { weights<T>(a); }                                           \
  GLOBAL void rockhound_dnn_pool_##NAME(Pooling a) { pool<T>(a); }                                                     \
  GLOBAL void rockhound_dnn_activate_##NAME(Activation a) { activate<T>(a); }                                          \
  GLOBAL void rockhound_dnn_elementwise_##NAME(Elementwise a) { elementwise<T>(a); }                                   \
  GLOBAL void rockhound_dnn_fill_##NAME(Fill a) { fill<T>(a); }                                                        \
  GLOBAL void rockhound_dnn_normalize_##NAME(Normalization a) { normalize<T>(a); }                                     \
  GLOBAL void rockhound_dnn_moments_##NAME(Moments a) { moments<T>(a); }                                               \
  GLOBAL void rockhound_dnn_softmax_##NAME(Softmax a) { softmax<T>(a); }                                               \
  GLOBAL void rockhound_dnn_reduce_##NAME(Reduction a) { reduce<T>(a); }
FOR(f16, f16)
FOR(bf16, bf16)
FOR(f32, float)
FOR(f64, double)
