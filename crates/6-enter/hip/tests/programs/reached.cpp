// Launches of which an argument is the least: pointers in a structure and in memory, variables, a module, a barrier of the grid.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call) if ((call) != hipSuccess) { printf("failed: %s\n", #call); return 1; }

struct Lists {
  const float *const *rows;
  float *sums;
  int count;
};

__constant__ float scale = 1;
__device__ unsigned launches = 5;

extern "C" __global__ void add_rows(Lists lists) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int row = 0; row < lists.count; ++row) sum += lists.rows[row][column];
  lists.sums[column] = sum * scale;
  if (column == 0) atomicAdd(&launches, 1u);
}

int main() {
  const int rows = 3, columns = 256;
  std::vector<float *> pointers(rows);
  std::vector<float> row(columns), sums(columns);
  for (int at = 0; at < rows; ++at) {
    CHECK(hipMalloc(&pointers[at], columns * sizeof(float)));
    for (int column = 0; column < columns; ++column) row[column] = at + column;
    CHECK(hipMemcpy(pointers[at], row.data(), columns * sizeof(float), hipMemcpyHostToDevice));
  }
  float **table = nullptr;
  // The table begins inside of an allocation.
  CHECK(hipMalloc(&table, (rows + 2) * sizeof(float *)));
  CHECK(hipMemcpy(table + 2, pointers.data(), rows * sizeof(float *), hipMemcpyHostToDevice));
  float *result = nullptr;
  CHECK(hipMalloc(&result, columns * sizeof(float)));
  float two = 2;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(scale), &two, sizeof two));
  for (int launch = 0; launch < 2; ++launch) {
    add_rows<<<columns / 64, 64>>>(Lists{table + 2, result, rows});
    CHECK(hipDeviceSynchronize());
  }
  CHECK(hipMemcpy(sums.data(), result, columns * sizeof(float), hipMemcpyDeviceToHost));
  unsigned seen = 0;
  CHECK(hipMemcpyFromSymbol(&seen, HIP_SYMBOL(launches), sizeof seen));
  int wrong = seen != 7;
  for (int column = 0; column < columns; ++column) wrong += sums[column] != 2 * (3 + 3 * column);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
