"""A sum of two vectors, with arrays of NumPy and without torch."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)

n = 98432
x, y = (np.random.default_rng(seed).random(n, dtype=np.float32) for seed in (1, 2))
out = np.empty_like(x)
add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
assert np.array_equal(out, x + y), "sums differ from NumPy's"
print("sums equal NumPy's")
