// Kernels of the shapes of published sets: Laplacians, stencils of radius 4, and applications of RAJAPerf. `sets.tsv` has
// the measured times, and `sets.rs` says how each kernel is launched.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define RESTRICT __restrict__

#define LANE_X __builtin_amdgcn_workitem_id_x()
#define LANE_Y __builtin_amdgcn_workitem_id_y()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define GROUP_Z __builtin_amdgcn_workgroup_id_z()
#define ITEM256 (256 * GROUP_X + LANE_X)

#define FACE -6.0

// Laplacian of a cube, a row of 256 elements by a workgroup.
template <bool STREAMS> static __device__ void laplacian_of_one(double *f, const double *u, int nx, int ny, int nz) {
  int i = ITEM256, j = GROUP_Y, k = GROUP_Z, slice = nx * ny;
  if (i == 0 || i >= nx - 1 || j == 0 || j >= ny - 1 || k == 0 || k >= nz - 1) return;
  unsigned long at = i + nx * j + slice * k;
  double sum = u[at] * FACE + (u[at - 1] + u[at + 1]) * 1.1 + (u[at - nx] + u[at + nx]) * 1.2 +
               (u[at - slice] + u[at + slice]) * 1.3;
  if (STREAMS)
    __builtin_nontemporal_store(sum, f + at);
  else
    f[at] = sum;
}

// Sums of M rows, each with the reads of its row together.
template <int M> static __device__ void laplacian_of_rows(double *f, const double *u, int nx, int ny, int nz) {
  int i = ITEM256, j = M * GROUP_Y, k = GROUP_Z, slice = nx * ny;
  if (i == 0 || i >= nx - 1 || k == 0 || k >= nz - 1) return;
  unsigned long at = i + nx * j + slice * k;
  double sums[M] = {0};
#pragma unroll
  for (int n = 0; n < M; n++) {
    double own = u[at + n * nx];
    sums[n] += own * FACE + (u[at - 1 + n * nx] + u[at + 1 + n * nx]) * 1.1;
    if (n == 0) sums[n] += u[at - nx + n * nx] * 1.2;
    if (n > 0) sums[n - 1] += own * 1.2;
    if (n < M - 1) sums[n + 1] += own * 1.2;
    if (n == M - 1) sums[n] += u[at + nx + n * nx] * 1.2;
    sums[n] += (u[at - slice + n * nx] + u[at + slice + n * nx]) * 1.3;
  }
#pragma unroll
  for (int n = 0; n < M; n++)
    if (j + n > 0 && j + n < ny - 1) f[at + n * nx] = sums[n];
}

// Sums of M rows, with the reads in the order of addresses.
template <int M> static __device__ void laplacian_in_order(double *f, const double *u, int nx, int ny, int nz) {
  int i = ITEM256, j = M * GROUP_Y, k = GROUP_Z, slice = nx * ny;
  if (i == 0 || i >= nx - 1 || k == 0 || k >= nz - 1) return;
  unsigned long at = i + nx * j + slice * k;
  double sums[M] = {0};
#pragma unroll
  for (int n = 0; n < M; n++) sums[n] += u[at - slice + n * nx] * 1.3;
  sums[0] += j > 0 ? u[at - nx] * 1.2 : 0;
#pragma unroll
  for (int n = 0; n < M; n++) {
    sums[n] += u[at - 1 + n * nx] * 1.1;
    double own = u[at + n * nx];
    sums[n] += own * FACE;
    sums[n] += u[at + 1 + n * nx] * 1.1;
    if (n > 0) sums[n - 1] += own * 1.2;
    if (n < M - 1) sums[n + 1] += own * 1.2;
  }
  sums[M - 1] += j < ny - M ? u[at + M * nx] * 1.2 : 0;
#pragma unroll
  for (int n = 0; n < M; n++) sums[n] += u[at + slice + n * nx] * 1.3;
#pragma unroll
  for (int n = 0; n < M; n++)
    if (j + n > 0 && j + n < ny - 1) f[at + n * nx] = sums[n];
}

#define LAPLACIAN(NAME, BODY)                                                                       \
  extern "C" __global__ void NAME(double *f, const double *u, int nx, int ny, int nz) { BODY(f, u, nx, ny, nz); }
LAPLACIAN(laplacian_plain, laplacian_of_one<false>)
LAPLACIAN(laplacian_streaming, laplacian_of_one<true>)
LAPLACIAN(laplacian_rows2, laplacian_of_rows<2>)
LAPLACIAN(laplacian_rows8, laplacian_of_rows<8>)
LAPLACIAN(laplacian_order1, laplacian_in_order<1>)
LAPLACIAN(laplacian_order4, laplacian_in_order<4>)
LAPLACIAN(laplacian_order8, laplacian_in_order<8>)

// Weighted sum of nine planes.
__attribute__((constant)) float weights[9] = {0.1f, 0.2f, 0.3f, 0.4f, -2.0f, 0.4f, 0.3f, 0.2f, 0.1f};
extern "C" __global__ void planes9(float *RESTRICT out, const float *RESTRICT in, int line, int slice, int n) {
  int i = 4 + 64 * GROUP_X + LANE_X, j = 4 + 8 * GROUP_Y + LANE_Y, k = 4 + GROUP_Z;
  if (i >= n + 4 || j >= n + 4 || k >= n + 4) return;
  unsigned long at = i + line * j + slice * k;
  in += at - 4 * slice;
  float sum = 0.0f;
  for (int r = 0; r <= 8; r++) {
    sum += in[0] * weights[r];
    in += slice;
  }
  out[at] = sum;
}

// Streams of doubles: an element by a thread.
#define STREAM(NAME, BUFFERS, BODY)                                                                          \
  extern "C" __global__ void stream_##NAME(double *RESTRICT out, BUFFERS, int n) {                            \
    int i = ITEM256;                                                                                          \
    if (i >= 2 && i < n - 2) BODY;                                                                            \
  }
#define ONE const double *RESTRICT a
#define THREE ONE, const double *RESTRICT b, const double *RESTRICT c
STREAM(write, ONE, out[i] = 0.5)
STREAM(read, ONE, if (a[i] == 1.25) out[i] = 0.5)
STREAM(copy, ONE, out[i] = 0.5 * a[i])
STREAM(triad, THREE, out[i] = a[i] + b[i] * c[i])
STREAM(near3, ONE, out[i] = 0.5 * (a[i - 1] + a[i + 1]) - a[i])
STREAM(near5, ONE, out[i] = 0.5 * (a[i - 1] + a[i + 1]) + 0.25 * (a[i - 2] + a[i + 2]) - a[i])

// Corners of a zone, each with a pointer of its own: what no compiler knows to be neighbours, it does not load together.
struct Corners {
  double of[8];
};
#define CORNERS(C)                                                                                          \
  const double *C##0, const double *C##1, const double *C##2, const double *C##3, const double *C##4,       \
      const double *C##5, const double *C##6, const double *C##7
#define AT(C, I) {{C##0[I], C##1[I], C##2[I], C##3[I], C##4[I], C##5[I], C##6[I], C##7[I]}}

static __device__ double triple(double a, double b, double c, double d, double e, double f, double g, double h,
                                double i) {
  return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g);
}

// Volumes of zones.
extern "C" __global__ void volumes(double *volume, CORNERS(px), CORNERS(py), CORNERS(pz), int first, int end) {
  long i = first + (long)ITEM256;
  if (i >= end) return;
  Corners x = AT(px, i), y = AT(py, i), z = AT(pz, i);
#define EDGE(C, A, B) (C.of[A] - C.of[B])
  double sum = triple(EDGE(x, 7, 1) + EDGE(x, 6, 0), EDGE(y, 7, 1) + EDGE(y, 6, 0), EDGE(z, 7, 1) + EDGE(z, 6, 0),
                      EDGE(x, 7, 2), EDGE(y, 7, 2), EDGE(z, 7, 2), EDGE(x, 3, 0), EDGE(y, 3, 0), EDGE(z, 3, 0));
  volume[i] = sum;
  sum += triple(EDGE(x, 7, 2) + EDGE(x, 5, 0), EDGE(y, 7, 2) + EDGE(y, 5, 0), EDGE(z, 7, 2) + EDGE(z, 5, 0),
                EDGE(x, 7, 4), EDGE(y, 7, 4), EDGE(z, 7, 4), EDGE(x, 6, 0), EDGE(y, 6, 0), EDGE(z, 6, 0));
  sum += triple(EDGE(x, 7, 4) + EDGE(x, 3, 0), EDGE(y, 7, 4) + EDGE(y, 3, 0), EDGE(z, 7, 4) + EDGE(z, 3, 0),
                EDGE(x, 7, 1), EDGE(y, 7, 1), EDGE(z, 7, 1), EDGE(x, 5, 0), EDGE(y, 5, 0), EDGE(z, 5, 0));
  volume[i] = sum * (1.0 / 12.0);
}

// An eighth of a zone's volume for each of its nodes.
extern "C" __global__ void to_nodes(const double *volume, double *n0, double *n1, double *n2, double *n3, double *n4,
                                    double *n5, double *n6, double *n7, const long *zones, int end) {
  long item = ITEM256;
  if (item >= end) return;
  long i = zones[item];
  double value = 0.125 * volume[i];
#define ADD(NODE) __hip_atomic_fetch_add(&NODE[i], value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
  ADD(n0), ADD(n1), ADD(n2), ADD(n3), ADD(n4), ADD(n5), ADD(n6), ADD(n7);
}

// Twelve vectors by component.
struct Vectors {
  double of[3][12];
};

static __device__ Vectors transformed(const double (&matrix)[3][3], const Vectors &from) {
  Vectors to;
  for (int row = 0; row < 3; row++)
    for (int it = 0; it < 12; it++)
      to.of[row][it] = matrix[row][0] * from.of[0][it] + matrix[row][1] * from.of[1][it] + matrix[row][2] * from.of[2][it];
  return to;
}

static __device__ void add_products(double (&sums)[12][12], double weight, const Vectors &of) {
  for (int row = 0; row < 12; row++)
    for (int column = row; column < 12; column++) {
      sums[row][column] += weight * (of.of[0][row] * of.of[0][column] + of.of[1][row] * of.of[1][column] +
                                     of.of[2][row] * of.of[2][column]);
      sums[column][row] = sums[row][column];
    }
}

// Derivatives of a coordinate: along the axis, at a place on the two axes after it.
static __device__ double slope(const Corners &of, int axis, const double (&near)[3][2]) {
  int next = (axis + 1) % 3, last = (axis + 2) % 3;
  double sum = 0.0;
  for (int edge = 0; edge < 4; edge++) {
    int from = ((edge & 1) << next) + ((edge >> 1) << last);
    sum += (of.of[from + (1 << axis)] - of.of[from]) * (near[next][edge & 1] * near[last][edge >> 1]);
  }
  return sum;
}

// How near a point of Gauss is to both ends of an axis.
static __device__ void place(double (&near)[2], int point) {
  near[1] = point ? 0.788675134594812882 : 0.211324865405187118;
  near[0] = 1.0 - near[1];
}

// Vectors of the four edges along an axis.
static __device__ void lay(Vectors &basis, const double (&near)[3][2], int axis) {
  for (int edge = 0; edge < 4; edge++)
    basis.of[axis][4 * axis + edge] = near[(axis + 1) % 3][edge & 1] * near[(axis + 2) % 3][edge >> 1];
}

// Components along an axis of the curls of the edges along both others.
static __device__ void turn(Vectors &turning, const double (&near)[3][2], int axis) {
  int next = (axis + 1) % 3, last = (axis + 2) % 3;
  for (int edge = 0; edge < 4; edge++) {
    turning.of[axis][4 * last + edge] = edge >> 1 ? near[axis][edge & 1] : -near[axis][edge & 1];
    turning.of[axis][4 * next + edge] = edge & 1 ? -near[axis][edge >> 1] : near[axis][edge >> 1];
  }
}

// Stiffness of the twelve edges of a zone, integrated with two points along each axis: the sum of its entries.
extern "C" __attribute__((amdgpu_flat_work_group_size(1, 256))) __global__ void edges(double *stiffness, CORNERS(px),
                                                                                   CORNERS(py), CORNERS(pz), int first,
                                                                                   int end) {
  long i = first + (long)ITEM256;
  if (i >= end) return;
  Corners corners[3] = {AT(px, i), AT(py, i), AT(pz, i)};
  double sums[12][12] = {};
  double near[3][2], slopes[3][3], inverse[3][3], curl[3][3];
  Vectors basis = {}, turning = {};
#pragma unroll 1
  for (int x = 0; x < 2; x++) {
    place(near[0], x), turn(turning, near, 0);
#pragma unroll 1
    for (int y = 0; y < 2; y++) {
      place(near[1], y), turn(turning, near, 1), lay(basis, near, 2);
      for (int row = 0; row < 3; row++) slopes[row][2] = slope(corners[row], 2, near);
#pragma unroll
      for (int z = 0; z < 2; z++) {
        place(near[2], z), turn(turning, near, 2), lay(basis, near, 0), lay(basis, near, 1);
        for (int row = 0; row < 3; row++)
          for (int axis = 0; axis < 2; axis++) slopes[row][axis] = slope(corners[row], axis, near);
#define MINOR(ROW, COLUMN)                                                                 \
  (slopes[(ROW + 1) % 3][(COLUMN + 1) % 3] * slopes[(ROW + 2) % 3][(COLUMN + 2) % 3] -     \
   slopes[(ROW + 1) % 3][(COLUMN + 2) % 3] * slopes[(ROW + 2) % 3][(COLUMN + 1) % 3])
        double volume = slopes[0][0] * MINOR(0, 0) + slopes[0][1] * MINOR(0, 1) + slopes[0][2] * MINOR(0, 2);
        double share = 1.0 / (volume + 1e-50), size = __builtin_fabs(volume), part = 1.0 / (size + 1e-50);
        for (int row = 0; row < 3; row++)
          for (int column = 0; column < 3; column++) {
            inverse[row][column] = MINOR(column, row) * share;
            curl[row][column] = slopes[column][row] * part;
          }
        Vectors values = transformed(inverse, basis), curls = transformed(curl, turning);
        add_products(sums, 0.125 * size, values);
        add_products(sums, 0.125 * size, curls);
      }
    }
  }
  double sum = 0.0;
  for (int row = 0; row < 12; row++) {
    double entries = 0.0;
    for (int column = 0; column < 12; column++) entries += sums[row][column];
    sum += entries;
  }
  stiffness[i] = sum;
}

static __device__ double speed(double pb, double e, double v, double b, double p) {
  double square = (pb * e + v * v * b * p) / 1.01;
  return square <= 0.1111111e-36 ? 0.3333333e-18 : __builtin_elementwise_sqrt(square);
}

// Six steps of an equation of state over up to 15 arrays of n elements, one after the other in `all`.
#define ARRAY(NAME, NUMBER) double *NAME = all + (long)NUMBER * n
#define ARRAYS                                                                                      \
  ARRAY(e_new, 0); ARRAY(e_old, 1); ARRAY(change, 2); ARRAY(p_new, 3); ARRAY(p_old, 4);             \
  ARRAY(q_new, 5); ARRAY(q_old, 6); ARRAY(work, 7); ARRAY(half, 8); ARRAY(p_half, 9);               \
  ARRAY(b, 10); ARRAY(pb, 11); ARRAY(ql, 12); ARRAY(qq, 13); ARRAY(v, 14);                          \
  int i = ITEM256;                                                                                  \
  if (i >= n) return

extern "C" __global__ void state1(double *all, int n) {
  ARRAYS;
  e_new[i] = e_old[i] - 0.5 * change[i] * (p_old[i] + q_old[i]) + 0.5 * work[i];
}
extern "C" __global__ void state2(double *all, int n) {
  ARRAYS;
  if (change[i] > 0.0) {
    q_new[i] = 0.0;
  } else {
    double between = 1.0 / (1.0 + half[i]);
    q_new[i] = speed(pb[i], e_new[i], between, b[i], p_half[i]) * ql[i] + qq[i];
  }
}
extern "C" __global__ void state3(double *all, int n) {
  ARRAYS;
  e_new[i] = e_new[i] + 0.5 * change[i] * (3.0 * (p_old[i] + q_old[i]) - 4.0 * (p_half[i] + q_new[i]));
}
extern "C" __global__ void state4(double *all, int n) {
  ARRAYS;
  e_new[i] += 0.5 * work[i];
  if (__builtin_fabs(e_new[i]) < 1.1) e_new[i] = 0.0;
  if (e_new[i] < 1.2) e_new[i] = 1.2;
}
extern "C" __global__ void state5(double *all, int n) {
  ARRAYS;
  double q = change[i] > 0.0 ? 0.0 : speed(pb[i], e_new[i], v[i], b[i], p_new[i]) * ql[i] + qq[i];
  e_new[i] = e_new[i] - (7.0 * (p_old[i] + q_old[i]) - 8.0 * (p_half[i] + q_new[i]) + (p_new[i] + q)) * change[i] / 6.0;
  if (__builtin_fabs(e_new[i]) < 1.1) e_new[i] = 0.0;
  if (e_new[i] < 1.2) e_new[i] = 1.2;
}
extern "C" __global__ void state6(double *all, int n) {
  ARRAYS;
  if (change[i] <= 0.0) {
    q_new[i] = speed(pb[i], e_new[i], v[i], b[i], p_new[i]) * ql[i] + qq[i];
    if (__builtin_fabs(q_new[i]) < 1.3) q_new[i] = 0.0;
  }
}
