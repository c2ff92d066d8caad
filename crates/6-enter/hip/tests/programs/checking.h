// Shared by programs that compare results with the CPU: a count of what is wrong, numbers, memory of the GPU.
#pragma once
#include <cstdio>
#include <vector>

static int wrong = 0;
static inline void check(bool ok, const char *what) {
  if (!ok) printf("wrong: %s\n", what), wrong++;
}

static unsigned seed = 1;
static inline unsigned next_word() { return seed = seed * 1664525u + 1013904223u; }
// In [-1, 1).
static inline double next() { return int(next_word() >> 16) / 32768.0 - 1; }

template <class T> struct Array {
  T *gpu = nullptr;
  size_t count;
  Array(size_t count) : count(count) { (void)hipMalloc(&gpu, count * sizeof(T)); }
  Array(const std::vector<T> &from) : Array(from.size()) { (void)hipMemcpy(gpu, from.data(), count * sizeof(T), hipMemcpyHostToDevice); }
  ~Array() { (void)hipFree(gpu); }
  std::vector<T> get() {
    std::vector<T> out(count);
    (void)hipMemcpy(out.data(), gpu, count * sizeof(T), hipMemcpyDeviceToHost);
    return out;
  }
};
