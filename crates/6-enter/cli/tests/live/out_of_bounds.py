"""A copy that forgets its mask: it reads past the end of one array, where another one may follow."""

import sys

import numpy as np
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x_ptr + offsets + shift)
    tl.store(out_ptr + offsets, values)


memory = np.zeros(1 << 20, dtype=np.float32)
x, other = np.zeros(1024, dtype=np.float32), np.zeros(1 << 20, dtype=np.float32)
# Other arrays are known to the GPU, before and behind.
copy_kernel[(1,)](memory, other, 0, BLOCK=1024)
copy_kernel[(1,)](x, other, 0, BLOCK=1024)
copy_kernel[(1,)](x, memory, int(sys.argv[1]) if len(sys.argv) > 1 else 8, BLOCK=1024)
