// Kernels of the shapes that were timed with events on an MI300A. `events.tsv` has the measured times, and
// `events.rs` says how each kernel is launched.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define RESTRICT __restrict__

typedef float float4 __attribute__((ext_vector_type(4)));
typedef unsigned long long u64;

#define LANE_X __builtin_amdgcn_workitem_id_x()
#define LANE_Y __builtin_amdgcn_workitem_id_y()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define GROUP_Z __builtin_amdgcn_workgroup_id_z()
#define ITEM256 (256 * GROUP_X + LANE_X)

static __device__ float exp_of(float x) { return __builtin_elementwise_exp(x); }
static __device__ float log_of(float x) { return __builtin_elementwise_log(x); }
static __device__ float root(float x) { return __builtin_elementwise_sqrt(x); }

static __device__ void meet() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// 27-point stencil of a cube, a plane of 16 x 16 elements by a workgroup.
extern "C" __global__ void stencil27(const float *in, float *out, int n) {
  int x = 16 * GROUP_X + LANE_X, y = 16 * GROUP_Y + LANE_Y, z = GROUP_Z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  float sum = 0.0f;
#pragma unroll
  for (int dz = -1; dz <= 1; dz++)
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
      for (int dx = -1; dx <= 1; dx++)
        sum += (float)(3 * dx + 2 * dy + 5) * in[((z + dz) * n + y + dy) * n + x + dx];
  out[(z * n + y) * n + x] = sum;
}

// Two products of a matrix with a vector, a thread for a row.
extern "C" __global__ void two_products(float *a, float *b, float *x, float *y, float alpha, float beta, int n) {
  int i = ITEM256;
  if (i >= n) return;
  float one = 0.0f, two = 0.0f;
  for (int j = 0; j < n; j++) {
    one += a[i * n + j] * x[j];
    two += b[i * n + j] * x[j];
  }
  y[i] = alpha * one + beta * two;
}

extern "C" __global__ void by_rows(float *a, float *x, float *y, int n) {
  int i = ITEM256;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < n; j++) sum += a[i * n + j] * y[j];
  x[i] += sum;
}

extern "C" __global__ void by_columns(float *a, float *x, float *y, int n) {
  int i = ITEM256;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < n; j++) sum += a[j * n + i] * y[j];
  x[i] += sum;
}

// Forces between all pairs of particles that are near.
extern "C" __global__ void pairs(const float4 *RESTRICT at, float4 *RESTRICT force, int n, float cut) {
  int i = ITEM256;
  if (i >= n) return;
  float4 own = at[i];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int j = 0; j < n; j++) {
    if (i == j) continue;
    float4 other = at[j];
    float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    float square = dx * dx + dy * dy + dz * dz;
    if (square < cut * cut && square > 1e-10f) {
      float one = 1.0f / square, six = one * one * one, inverse = 1.0f / root(square);
      float f = 48.0f * (six * six * inverse - 0.5f * six * inverse) * inverse;
      fx += f * dx, fy += f * dy, fz += f * dz;
    }
  }
  force[i] = (float4){fx, fy, fz, 0.0f};
}

// All distances of points, then the near ones of each row.
extern "C" __global__ void distances(const float *RESTRICT points, float *RESTRICT far, int n, int d) {
  int item = ITEM256;
  if (item >= n * n) return;
  int i = item / n, j = item % n;
  float sum = 0.0f;
  for (int k = 0; k < d; k++) {
    float difference = points[i * d + k] - points[j * d + k];
    sum += difference * difference;
  }
  far[i * n + j] = root(sum);
}

extern "C" __global__ void near_ones(const float *RESTRICT far, int *RESTRICT size, int n, float most) {
  int i = ITEM256;
  if (i >= n) return;
  int count = 0;
  for (int j = 0; j < n; j++)
    if (far[i * n + j] < most) count++;
  size[i] = count;
}

extern "C" __global__ void stream_read(const float *RESTRICT in, float *RESTRICT out, int n, int threads) {
  int item = ITEM256;
  float sum = 0.0f;
  for (int i = item; i < n; i += threads) sum += in[i];
  if (item < n) out[item] = sum;
}

extern "C" __global__ void stream_write(float *RESTRICT out, int n, int threads) {
  for (int i = ITEM256; i < n; i += threads) out[i] = (float)i;
}

extern "C" __global__ void multiply_adds(float *RESTRICT out, int count) {
  float a = 1.0f, b = LANE_X * 0.001f;
  for (int i = 0; i < count; i++) a = a * b + b;
  out[ITEM256] = a;
}

static __device__ float normal(float d) {
  float k = 1.0f / (1.0f + 0.23f * __builtin_fabsf(d));
  float p = 0.4f * exp_of(-0.5f * d * d) * (k * (0.32f + k * (-0.36f + k * (1.78f + k * (-1.82f + k * 1.33f)))));
  return d > 0.0f ? 1.0f - p : p;
}

// Prices of options.
extern "C" __global__ void options(const float *RESTRICT stock, const float *RESTRICT strike,
                                   const float *RESTRICT years, float *RESTRICT call, float *RESTRICT put,
                                   float rate, float spread, int n) {
  int i = ITEM256;
  if (i >= n) return;
  float s = stock[i], x = strike[i], t = years[i], width = spread * root(t);
  float one = (log_of(s / x) + (rate + 0.5f * spread * spread) * t) / width, two = one - width;
  float worth = x * exp_of(-rate * t);
  call[i] = s * normal(one) - worth * normal(two);
  put[i] = worth * normal(-two) - s * normal(-one);
}

// A histogram in the LDS, added to one in memory.
extern "C" __global__ void histogram(const unsigned *RESTRICT data, unsigned *RESTRICT bins, int n, int threads) {
  __shared__ unsigned own[256];
  own[LANE_X] = 0;
  meet();
  for (int i = ITEM256; i < n; i += threads)
    __hip_atomic_fetch_add(&own[data[i]], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  meet();
  if (own[LANE_X] > 0)
    __hip_atomic_fetch_add(&bins[LANE_X], own[LANE_X], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void clear(unsigned *out, int n) {
  int i = ITEM256;
  if (i < n) out[i] = 0;
}

// Few threads that each sum a long row.
extern "C" __global__ void layer(float *in, float *weights, float *out, int inputs, int outputs) {
  int i = ITEM256;
  if (i >= outputs) return;
  float sum = 0.0f;
  for (int j = 0; j < inputs; j++) sum += in[j] * weights[i * inputs + j];
  sum += weights[i * inputs + inputs];
  out[i] = 1.0f / (1.0f + exp_of(-sum));
}

// Two arrays that are updated in place.
extern "C" __global__ void in_place(float *delta, float *in, float *weights, float *before, int inputs, int outputs,
                                    float rate, float momentum) {
  int x = ITEM256, y = GROUP_Y;
  if (y >= outputs || x > inputs) return;
  int at = y * (inputs + 1) + x;
  float value = x < inputs ? in[x] : 1.0f;
  float change = rate * delta[y] * value + momentum * before[at];
  weights[at] += change;
  before[at] = change;
}

// A product of matrices with tiles of 16 x 16 in the LDS.
extern "C" __global__ void tiled(const float *a, const float *b, float *c, int n, float alpha, float beta) {
  __shared__ float left[16][16], right[16][16];
  int row = 16 * GROUP_Y + LANE_Y, column = 16 * GROUP_X + LANE_X;
  float sum = 0.0f;
  for (int t = 0; t < (n + 15) / 16; t++) {
    int x = 16 * t + LANE_X, y = 16 * t + LANE_Y;
    left[LANE_Y][LANE_X] = row < n && x < n ? a[row * n + x] : 0.0f;
    right[LANE_Y][LANE_X] = y < n && column < n ? b[y * n + column] : 0.0f;
    meet();
    for (int k = 0; k < 16; k++) sum += left[LANE_Y][k] * right[k][LANE_X];
    meet();
  }
  if (row < n && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Quarter turns of a large angle and its rest, by a product with many digits of 2 / pi. None of the angles is large:
// the branch to this function is what costs time.
static __device__ float rest_of_large(float x, int *quarters) {
  const unsigned digits[] = {0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  unsigned mantissa = (__builtin_bit_cast(unsigned, x) & 0x7fffff) | 0x800000, words[7];
  u64 sum = 0;
#pragma unroll
  for (int i = 0; i < 6; i++) {
    sum = (u64)mantissa * digits[i] + (sum >> 32);
    words[i] = (unsigned)sum;
  }
  words[6] = (unsigned)(sum >> 32);
  int exponent = (int)(__builtin_bit_cast(unsigned, x) >> 23) - 120;
  unsigned high = exponent & 64 ? words[4] : words[6], low = exponent & 64 ? words[3] : words[5];
  high = exponent & 32 ? low : high;
  unsigned turns = high << (exponent & 31) | low >> (31 - (exponent & 31));
  *quarters = (int)(turns >> 30);
  return (float)(int)(turns << 2) * 3.6572682e-10f;
}

// Sine and cosine, as a library of full precision computes them. Each call computes the rest of the angle.
static __device__ float wave_of(float x, int quarter) {
  if (quarter)
    asm("; cosine" : "+v"(x));
  else
    asm("; sine" : "+v"(x));
  float a = __builtin_fabsf(x), r;
  int q;
  if (a >= 131072.0f) {
    r = rest_of_large(a, &q);
  } else {
    float turns = __builtin_rintf(a * 0.63661977f);
    r = __builtin_fmaf(turns, -1.5707963f, a);
    r = __builtin_fmaf(turns, -4.3711388e-8f, r);
    r = __builtin_fmaf(turns, -1.7151245e-15f, r);
    q = (int)turns;
  }
  q += quarter;
  float s = r * r;
  float sine = r + r * s * (-0.16666655f + s * (8.3321613e-3f + s * -1.9515296e-4f));
  float cosine = 1.0f + s * (-0.5f + s * (4.1666646e-2f + s * (-1.3887316e-3f + s * 2.4433157e-5f)));
  float found = q & 1 ? cosine : sine;
  found = q & 2 ? -found : found;
  // The sine of a negative angle is negative; of an infinite one there is none.
  found = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, found) ^
                                        (quarter ? 0 : __builtin_bit_cast(unsigned, x) & 0x80000000));
  return __builtin_isinf(a) ? __builtin_nanf("") : found;
}

// A sum of two numbers, and what rounding lost.
static __device__ float sum_of(float a, float b, float *lost) {
  float sum = a + b, part = sum - a;
  *lost = (a - (sum - part)) + (b - part);
  return sum;
}

// A product of two numbers, and what rounding lost.
static __device__ float product_of(float a, float b, float *lost) {
  float product = a * b;
  *lost = __builtin_fmaf(a, b, -product);
  return product;
}

// A power by a logarithm and a product of two words each, as a library of full precision computes it.
static __device__ float power(float base, float y) {
  asm("" : "+v"(base));
  float m = __builtin_amdgcn_frexp_mantf(base);
  int exponent = __builtin_amdgcn_frexp_expf(base);
  bool small = m < 0.70710678f;
  m = small ? 2.0f * m : m;
  exponent -= small;
  float below, left, d = sum_of(m, 1.0f, &below), t = m - 1.0f, q = t / d;
  left = __builtin_fmaf(-q, d, t);
  left = __builtin_fmaf(-q, below, left) / d;
  float lost, square = product_of(q, q, &lost);
  lost = __builtin_fmaf(2.0f * q, left, lost);
  float p = 0.66666667f + square * (0.4f + square * (0.2857143f + square * (0.22222222f + square * 0.18181818f)));
  float cube_lost, cube = product_of(q, square, &cube_lost), term_lost, term = product_of(cube, p, &term_lost);
  cube_lost += __builtin_fmaf(left, square, q * lost);
  term_lost += cube_lost * p;
  float one_lost, one = sum_of(2.0f * q, term, &one_lost);
  one_lost += term_lost + 2.0f * left;
  float two_lost, two = product_of(one, 1.442695f, &two_lost);
  two_lost += one * 1.925963e-8f + one_lost * 1.442695f;
  float log_lost, log = sum_of((float)exponent, two, &log_lost);
  log_lost += two_lost;
  float all_lost, all = product_of(log, y, &all_lost);
  all_lost = __builtin_fmaf(log_lost, y, all_lost);
  float whole = __builtin_rintf(all), x = (all - whole) + all_lost;
  float e = 1.0f + x * (0.69314718f + x * (0.24022651f + x * (5.5504109e-2f + x * (9.6181291e-3f + x * 1.3333558e-3f))));
  float found = __builtin_amdgcn_ldexpf(e, (int)whole);
  found = all > 128.0f ? __builtin_inff() : found;
  found = all < -150.0f ? 0.0f : found;
  found = base == 1.0f || y == 0.0f ? 1.0f : found;
  found = base == 0.0f ? (y < 0.0f ? __builtin_inff() : 0.0f) : found;
  found = __builtin_isinf(base) ? (y < 0.0f ? 0.0f : base) : found;
  return base < 0.0f || __builtin_isnan(base) || __builtin_isnan(y) ? __builtin_nanf("") : found;
}

static __device__ float arc(float x) {
  float a = __builtin_fabsf(x), s = a > 0.5f ? 0.5f - 0.5f * a : x * x, r = a > 0.5f ? root(s) : x;
  float p = r + r * s * (0.16666752f + s * (7.4953002e-2f + s * (4.5470025e-2f + s * (2.4181311e-2f + s * 4.2163199e-2f))));
  if (a <= 0.5f) return 1.5707963f - p;
  return x < 0.0f ? 3.1415927f - 2.0f * p : 2.0f * p;
}

// Angles between all pairs of directions, counted in bins of memory.
extern "C" __global__ void angles(float *right, float *up, u64 *bins, int n, int count, float least, float width) {
  int i = ITEM256;
  if (i >= n) return;
  float own = right[i], sine = wave_of(up[i], 0), cosine = wave_of(up[i], 1);
  for (int j = i + 1; j < n; j++) {
    float there = up[j], along = right[j];
    asm volatile("" : "+v"(there), "+v"(along));
    float x = sine * wave_of(there, 0) + cosine * wave_of(there, 1) * wave_of(own - along, 1);
    if (x > 1.0f) x = 1.0f;
    if (x < -1.0f) x = -1.0f;
    int bin = (int)((arc(x) - least) / width);
    if (bin >= 0 && bin < count) __hip_atomic_fetch_add(&bins[bin], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}

static __device__ float of_wave(float value) {
  for (int offset = 32; offset > 0; offset >>= 1)
    value += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(((LANE_X & 63) + offset) * 4, __builtin_bit_cast(int, value)));
  return value;
}

static __device__ float of_group(float value, float *shared) {
  value = of_wave(value);
  if ((LANE_X & 63) == 0) shared[LANE_X / 64] = value;
  meet();
  value = LANE_X < 4 ? shared[LANE_X] : 0.0f;
  return LANE_X < 64 ? of_wave(value) : value;
}

// Rows that get mean 0 and variance 1.
extern "C" __global__ void norm(const float *RESTRICT in, const float *RESTRICT gamma, const float *RESTRICT beta,
                                float *RESTRICT out, int rows, int width, float least) {
  __shared__ float one[32], two[32], known[2];
  int row = GROUP_X;
  if (row >= rows) return;
  const float *x = in + row * width;
  float *y = out + row * width;
  float sum = 0.0f, squares = 0.0f;
  for (int i = LANE_X; i < width; i += 256) {
    float value = x[i];
    sum += value;
    squares += value * value;
  }
  sum = of_group(sum, one);
  squares = of_group(squares, two);
  if (LANE_X == 0) {
    float mean = sum / width;
    known[0] = mean;
    known[1] = 1.0f / root(squares / width - mean * mean + least);
  }
  meet();
  for (int i = LANE_X; i < width; i += 256) y[i] = gamma[i] * (x[i] - known[0]) * known[1] + beta[i];
}

extern "C" __global__ void gated(const float *RESTRICT gate, const float *RESTRICT up, float *RESTRICT out, int n) {
  int i = ITEM256;
  if (i >= n) return;
  float g = gate[i];
  out[i] = g / (1.0f + exp_of(-g)) * up[i];
}

// One wave whose lanes follow chains.
extern "C" __global__ void chase(const int *next, int n, int hops, int *out) {
  int at = LANE_X % n;
  for (int i = 0; i < hops; i++) at = next[at];
  out[LANE_X] = at;
}

// Time steps of fields on a grid of two dimensions.
extern "C" __global__ void field_edge(float *ey, float *edge, int n, int t) {
  int j = ITEM256;
  if (j < n) ey[j] = edge[t];
}

extern "C" __global__ void field_y(float *ey, float *hz, int n) {
  int j = 16 * GROUP_X + LANE_X, i = 16 * GROUP_Y + LANE_Y;
  if (i >= 1 && i < n && j < n) ey[i * n + j] -= 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);
}

extern "C" __global__ void field_x(float *ex, float *hz, int n) {
  int j = 16 * GROUP_X + LANE_X, i = 16 * GROUP_Y + LANE_Y;
  if (i < n && j >= 1 && j < n) ex[i * n + j] -= 0.5f * (hz[i * n + j] - hz[i * n + j - 1]);
}

extern "C" __global__ void field_z(float *ex, float *ey, float *hz, int n) {
  int j = 16 * GROUP_X + LANE_X, i = 16 * GROUP_Y + LANE_Y;
  if (i < n - 1 && j < n - 1)
    hz[i * n + j] -= 0.7f * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}

// Pairs of neighbours that are turned in place, in two arrays.
extern "C" __global__ void turned(float *q, float *k, int positions, int heads, int width, float base) {
  int half = width / 2, item = ITEM256;
  int pair = item % half, rest = item / half, head = rest % heads;
  rest /= heads;
  int position = rest % positions, batch = rest / positions;
  float angle = position * (1.0f / power(base, 2.0f * pair / width));
  float cosine = wave_of(angle, 1), sine = wave_of(angle, 0);
  int at = ((batch * positions + position) * heads + head) * width + 2 * pair;
  float a = q[at], b = q[at + 1];
  q[at] = a * cosine - b * sine;
  q[at + 1] = a * sine + b * cosine;
  a = k[at], b = k[at + 1];
  k[at] = a * cosine - b * sine;
  k[at + 1] = a * sine + b * cosine;
}

// Random additions to a table, `each` by a thread, of the scope of the system.
extern "C" __global__ void scattered(double *table, int mask, int each, unsigned *states) {
  // Random numbers go on from launch to launch.
  unsigned *saved = states + 2 * (64 * GROUP_X + LANE_X), sum = saved[1];
  unsigned state = sum == 0 ? (64 * GROUP_X + LANE_X) * 2654435761u + 12345u : saved[0];
  for (int i = 0; i < each; i++) {
    unsigned t = state ^ (state >> 2);
    sum += 362437u;
    state = (state ^ (state << 4)) ^ (t ^ (t << 1));
    __hip_atomic_fetch_add(&table[(state + sum) & mask], 1.0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    // The rates of few threads show one update of each under way.
    __builtin_amdgcn_s_waitcnt(0);
  }
  saved[0] = state;
  saved[1] = sum;
}
