// Collectives among two devices, compared with the CPU. The argument names a part; the exit code is the number of results
// and statuses that are wrong. Prototypes are written after the public documentation; handles and enumerations are plain
// numbers, as they are in a call.
#include <hip/hip_runtime.h>
#include "checking.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

struct Id { char bytes[128]; };
extern "C" {
int ncclGetUniqueId(Id *);
int ncclCommInitAll(void **, int, const int *);
int ncclCommInitRank(void **, int, Id, int);
int ncclCommCount(void *, int *);
int ncclCommUserRank(void *, int *);
int ncclCommDestroy(void *);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(const void *, void *, size_t, int, int, void *, hipStream_t);
int ncclReduce(const void *, void *, size_t, int, int, int, void *, hipStream_t);
int ncclReduceScatter(const void *, void *, size_t, int, int, void *, hipStream_t);
int ncclBroadcast(const void *, void *, size_t, int, int, void *, hipStream_t);
int ncclAllGather(const void *, void *, size_t, int, void *, hipStream_t);
int ncclAllToAll(const void *, void *, size_t, int, void *, hipStream_t);
int ncclSend(const void *, size_t, int, int, void *, hipStream_t);
int ncclRecv(void *, size_t, int, int, void *, hipStream_t);
int ncclCommSplit(void *, int, int, void **, void *);
const char *ncclGetErrorString(int);
}

enum { RANKS = 2, COUNT = 1000 };
enum { I8, U8, I32, U32, I64, U64, F16, F32, F64, BF16 };
enum { SUM, PRODUCT, MOST, LEAST, MEAN };

template <class T> struct Buffers {
  T *at[RANKS];
  size_t count;
  explicit Buffers(size_t count) : count(count) {
    for (int rank = 0; rank < RANKS; rank++) {
      (void)hipSetDevice(rank);
      (void)hipMalloc(&at[rank], count * sizeof(T));
    }
  }
  ~Buffers() {
    for (T *it : at) (void)hipFree(it);
  }
  void set(int rank, const std::vector<T> &values) {
    (void)hipMemcpy(at[rank], values.data(), count * sizeof(T), hipMemcpyHostToDevice);
  }
  std::vector<T> get(int rank) {
    std::vector<T> values(count);
    (void)hipMemcpy(values.data(), at[rank], count * sizeof(T), hipMemcpyDeviceToHost);
    return values;
  }
};

template <class T> std::vector<T> numbers(int rank, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; i++) values[i] = (T)((i * 7 + rank * 3) % 11 + 1);
  return values;
}

template <class T> T joined(T a, T b, int op) {
  switch (op) {
  case PRODUCT: return (T)(a * b);
  case MOST: return a > b ? a : b;
  case LEAST: return a < b ? a : b;
  case MEAN: return (T)((a + b) / 2);
  default: return (T)(a + b);
  }
}

template <class F> void all(F call) {
  ncclGroupStart();
  for (int rank = 0; rank < RANKS; rank++) check(call(rank) == 0, "status of a call");
  check(ncclGroupEnd() == 0, "status of the group");
}

template <class T> void reduced(void **comms, int type, int op) {
  Buffers<T> from(COUNT), to(COUNT);
  std::vector<T> values[RANKS], expected(COUNT);
  for (int rank = 0; rank < RANKS; rank++) from.set(rank, values[rank] = numbers<T>(rank, COUNT));
  for (int i = 0; i < COUNT; i++) expected[i] = joined<T>(values[0][i], values[1][i], op);
  all([&](int rank) { return ncclAllReduce(from.at[rank], to.at[rank], COUNT, type, op, comms[rank], 0); });
  for (int rank = 0; rank < RANKS; rank++) check(to.get(rank) == expected, "all-reduce");
  all([&](int rank) { return ncclAllReduce(from.at[rank], from.at[rank], COUNT, type, op, comms[rank], 0); });
  for (int rank = 0; rank < RANKS; rank++) check(from.get(rank) == expected, "all-reduce in place");
}

static void reductions(void **comms) {
  for (int op = SUM; op <= LEAST; op++) {
    reduced<int8_t>(comms, I8, op);
    reduced<uint8_t>(comms, U8, op);
    reduced<int32_t>(comms, I32, op);
    reduced<uint32_t>(comms, U32, op);
    reduced<int64_t>(comms, I64, op);
    reduced<uint64_t>(comms, U64, op);
    reduced<_Float16>(comms, F16, op);
    reduced<float>(comms, F32, op);
    reduced<double>(comms, F64, op);
  }
  reduced<double>(comms, F64, MEAN);
  // 1.5 and 2.5 as bf16.
  Buffers<uint16_t> halves(4);
  for (int rank = 0; rank < RANKS; rank++) halves.set(rank, std::vector<uint16_t>(4, rank ? 0x4020 : 0x3fc0));
  all([&](int rank) { return ncclAllReduce(halves.at[rank], halves.at[rank], 4, BF16, SUM, comms[rank], 0); });
  check(halves.get(1) == std::vector<uint16_t>(4, 0x4080), "bf16");

  Buffers<float> from(2 * COUNT), one(2 * COUNT), part(COUNT);
  std::vector<float> values[RANKS];
  for (int rank = 0; rank < RANKS; rank++) from.set(rank, values[rank] = numbers<float>(rank, 2 * COUNT)), one.set(rank, values[rank]);
  all([&](int rank) { return ncclReduce(from.at[rank], one.at[rank], 2 * COUNT, F32, SUM, 1, comms[rank], 0); });
  all([&](int rank) { return ncclReduceScatter(from.at[rank], part.at[rank], COUNT, F32, SUM, comms[rank], 0); });
  check(one.get(0) == values[0], "a reduction leaves the buffers of other ranks");
  for (int i = 0; i < 2 * COUNT; i++) {
    float sum = values[0][i] + values[1][i];
    if (one.get(1)[i] != sum || part.get(i / COUNT)[i % COUNT] != sum) {
      check(false, "reduce and reduce-scatter");
      break;
    }
    i += 97;
  }
}

static void copies(void **comms) {
  Buffers<int> from(COUNT), to(COUNT), wide(2 * COUNT), back(2 * COUNT);
  for (int rank = 0; rank < RANKS; rank++) from.set(rank, numbers<int>(rank, COUNT));
  all([&](int rank) { return ncclBroadcast(from.at[rank], to.at[rank], COUNT, I32, 1, comms[rank], 0); });
  check(to.get(0) == numbers<int>(1, COUNT), "broadcast");
  all([&](int rank) { return ncclAllGather(from.at[rank], wide.at[rank], COUNT, I32, comms[rank], 0); });
  std::vector<int> both = numbers<int>(0, COUNT), second = numbers<int>(1, COUNT);
  both.insert(both.end(), second.begin(), second.end());
  check(wide.get(0) == both && wide.get(1) == both, "all-gather");
  all([&](int rank) { return ncclAllToAll(wide.at[rank], back.at[rank], COUNT, I32, comms[rank], 0); });
  std::vector<int> twice = second;
  twice.insert(twice.end(), second.begin(), second.end());
  check(back.get(1) == twice, "all-to-all");
}

static void messages(void **comms) {
  Buffers<double> from(COUNT), to(COUNT);
  for (int rank = 0; rank < RANKS; rank++) from.set(rank, numbers<double>(rank, COUNT));
  all([&](int rank) {
    int sent = ncclSend(from.at[rank], COUNT, F64, 1 - rank, comms[rank], 0);
    return sent ? sent : ncclRecv(to.at[rank], COUNT, F64, 1 - rank, comms[rank], 0);
  });
  for (int rank = 0; rank < RANKS; rank++) check(to.get(rank) == numbers<double>(1 - rank, COUNT), "a message");
}

static void threads() {
  Id id;
  ncclGetUniqueId(&id);
  Buffers<float> buffers(COUNT);
  for (int rank = 0; rank < RANKS; rank++) buffers.set(rank, std::vector<float>(COUNT, rank + 1.0f));
  std::vector<std::thread> running;
  for (int rank = 0; rank < RANKS; rank++) running.emplace_back([&, rank] {
    (void)hipSetDevice(rank);
    void *comm = nullptr;
    hipStream_t stream;
    (void)hipStreamCreate(&stream);
    check(ncclCommInitRank(&comm, RANKS, id, rank) == 0, "a rank begins");
    int ranks = 0, own = -1;
    ncclCommCount(comm, &ranks), ncclCommUserRank(comm, &own);
    check(ranks == RANKS && own == rank, "a rank knows itself");
    // Each step needs what the other rank did in the step before.
    for (int step = 0; step < 10; step++) check(ncclAllReduce(buffers.at[rank], buffers.at[rank], COUNT, F32, SUM, comm, stream) == 0, "a step");
    (void)hipStreamSynchronize(stream);
    ncclCommDestroy(comm);
  });
  for (auto &it : running) it.join();
  for (int rank = 0; rank < RANKS; rank++) check(buffers.get(rank) == std::vector<float>(COUNT, 3.0f * 512), "ten steps");
}

static void refused(void **comms) {
  Buffers<float> buffers(COUNT);
  void *other = nullptr;
  check(ncclCommSplit(comms[0], 0, 0, &other, nullptr) == 5, "a split is not supported");
  check(ncclAllReduce(buffers.at[0], buffers.at[0], COUNT, F32, SUM, nullptr, 0) == 4, "no communicator");
  check(ncclBroadcast(buffers.at[0], buffers.at[0], COUNT, F32, 2, comms[0], 0) == 4, "no such root");
  Id id;
  memset(&id, 1, sizeof id);
  check(ncclCommInitRank(&other, 2, id, 0) == 5, "a clique of several processes");
  check(std::string(ncclGetErrorString(0)) == "no error", "text of a status");
}

int main(int, char **argv) {
  std::string part = argv[1];
  void *comms[RANKS];
  check(ncclCommInitAll(comms, RANKS, nullptr) == 0, "all ranks begin");
  if (part == "reductions") reductions(comms);
  if (part == "copies") copies(comms);
  if (part == "messages") messages(comms);
  if (part == "threads") threads();
  if (part == "refused") refused(comms);
  for (void *it : comms) ncclCommDestroy(it);
  return wrong;
}
