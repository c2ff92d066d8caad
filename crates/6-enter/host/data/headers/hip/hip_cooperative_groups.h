// Groups of work-items: a workgroup, its tiles of a power of two of lanes, the lanes that are active, the grid.
#pragma once
#define HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUP_H
#pragma clang system_header
#ifdef ROCKHOUND_DEVICE_LIBRARIES
extern "C" __device__ void __ockl_grid_sync(void);
extern "C" __device__ unsigned int __ockl_grid_is_valid(void);
#endif
namespace cooperative_groups {
__rh uint32_t __rh_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__rh uint32_t __rh_size() { return blockDim.x * blockDim.y * blockDim.z; }
#define __rh_group(type) static __device__ inline __attribute__((always_inline)) type

class thread_block {
 public:
  __rh_group(void) sync() { __syncthreads(); }
  __rh_group(uint32_t) thread_rank() { return __rh_rank(); }
  __rh_group(uint32_t) size() { return __rh_size(); }
  __rh_group(uint32_t) num_threads() { return __rh_size(); }
  __rh_group(bool) is_valid() { return true; }
  __rh_group(dim3) group_index() { return blockIdx; }
  __rh_group(dim3) thread_index() { return threadIdx; }
  __rh_group(dim3) group_dim() { return blockDim; }
};
__rh thread_block this_thread_block() { return {}; }

class grid_group {
 public:
#ifdef ROCKHOUND_DEVICE_LIBRARIES
  __rh_group(bool) is_valid() { return __ockl_grid_is_valid(); }
  __rh_group(void) sync() { __ockl_grid_sync(); }
#endif
  __rh_group(uint64_t) block_rank() { return blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z); }
  __rh_group(uint64_t) thread_rank() { return block_rank() * __rh_size() + __rh_rank(); }
  __rh_group(uint64_t) size() { return (uint64_t)gridDim.x * gridDim.y * gridDim.z * __rh_size(); }
  __rh_group(uint64_t) num_threads() { return size(); }
  __rh_group(dim3) group_dim() { return gridDim; }
};
__rh grid_group this_grid() { return {}; }

// Lanes of a wave that lie together, or those that were active when the group was made.
template <uint32_t Size> class __rh_tile {
 public:
  __rh_group(void) sync() { __syncwarp(); }
  __rh_group(uint32_t) size() { return Size; }
  __rh_group(uint32_t) num_threads() { return Size; }
  __rh_group(uint32_t) thread_rank() { return __rh_rank() & (Size - 1); }
  __rh_group(uint32_t) meta_group_rank() { return __rh_rank() / Size; }
  __rh_group(uint32_t) meta_group_size() { return (__rh_size() + Size - 1) / Size; }
  __rh_group(bool) is_valid() { return true; }
  template <class T> __rh_group(T) shfl(T value, int lane) { return __shfl(value, lane, Size); }
  template <class T> __rh_group(T) shfl_up(T value, uint32_t delta) { return __shfl_up(value, delta, Size); }
  template <class T> __rh_group(T) shfl_down(T value, uint32_t delta) { return __shfl_down(value, delta, Size); }
  template <class T> __rh_group(T) shfl_xor(T value, int mask) { return __shfl_xor(value, mask, Size); }
  __rh_group(uint64_t) ballot(int predicate) { return __ballot(predicate) >> (__lane_id() & ~(Size - 1)) & (~0ull >> (64 - Size)); }
  __rh_group(int) any(int predicate) { return ballot(predicate) != 0; }
  __rh_group(int) all(int predicate) { return ballot(!predicate) == 0; }
};
template <uint32_t Size, class Parent = void> class thread_block_tile : public __rh_tile<Size> {
 public:
  thread_block_tile() = default;
  template <class Other> __device__ thread_block_tile(const thread_block_tile<Size, Other> &) {}
};
template <uint32_t Size, class Parent> __rh thread_block_tile<Size, Parent> tiled_partition(const Parent &) { return {}; }

class coalesced_group {
  uint64_t lanes;

 public:
  __device__ explicit coalesced_group(uint64_t lanes) : lanes(lanes) {}
  __device__ void sync() const { __syncwarp(); }
  __device__ uint32_t size() const { return __builtin_popcountll(lanes); }
  __device__ uint32_t num_threads() const { return size(); }
  __device__ uint32_t thread_rank() const { return __builtin_popcountll(lanes & ((1ull << __lane_id()) - 1)); }
  __device__ int __rh_lane(uint32_t rank) const {
    uint64_t left = lanes;
    for (; rank > 0 && left; rank--) left &= left - 1;
    return left ? __builtin_ctzll(left) : (int)__lane_id();
  }
  template <class T> __device__ T shfl(T value, int rank) const { return __shfl(value, __rh_lane(rank)); }
  template <class T> __device__ T shfl_down(T value, uint32_t delta) const {
    uint32_t from = thread_rank() + delta;
    return __shfl(value, from < size() ? __rh_lane(from) : (int)__lane_id());
  }
  template <class T> __device__ T shfl_up(T value, uint32_t delta) const {
    uint32_t own = thread_rank();
    return __shfl(value, own < delta ? (int)__lane_id() : __rh_lane(own - delta));
  }
  __device__ uint64_t ballot(int predicate) const {
    uint64_t all = __ballot(predicate) & lanes, packed = 0;
    uint32_t rank = 0;
    for (uint64_t left = lanes; left; left &= left - 1, rank++) packed |= (all >> __builtin_ctzll(left) & 1) << rank;
    return packed;
  }
  __device__ int any(int predicate) const { return (__ballot(predicate) & lanes) != 0; }
  __device__ int all(int predicate) const { return (__ballot(!predicate) & lanes) == 0; }
};
__rh coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <class Group> __rh void sync(Group group) { group.sync(); }
template <class Group> __rh auto thread_rank(Group group) { return group.thread_rank(); }
template <class Group> __rh auto group_size(Group group) { return group.size(); }
#undef __rh_group
}
