"""Kernels that are stopped are exceptions; the program goes on."""

import numpy
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


x = numpy.ones(1024, numpy.float32)
for _ in range(2):
    try:
        # More elements than the array has.
        double[(1,)](x, 4096, BLOCK=4096)
    except RuntimeError as error:
        print("caught" if "x_ptr of double" in str(error) and "faults.py:11" in str(error) else error)
double[(1,)](x, 1024, BLOCK=1024)
print("went on" if (x == 2).all() else x)
