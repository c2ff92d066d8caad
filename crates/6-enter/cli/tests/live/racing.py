"""Programs add to the same number without an atomic."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def count_kernel(total_ptr):
    total = tl.load(total_ptr)
    tl.store(total_ptr, total + tl.program_id(0))


count_kernel[(8,)](np.zeros(1, dtype=np.int32))
