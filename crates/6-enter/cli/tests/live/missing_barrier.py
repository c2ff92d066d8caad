"""Elements that other lanes stored are read without a barrier: four loads of one line meet one store."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def turn_kernel(x_ptr, out_ptr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out_ptr + at, tl.load(x_ptr + at))
    tl.store(x_ptr + at, tl.load(out_ptr + SIZE - 1 - at) + 1)


turn_kernel[(1,)](np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32), 1024)
