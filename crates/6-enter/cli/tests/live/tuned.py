"""Two autotuned kernels with arrays of NumPy: sums of rows, with configurations that cannot be used, and copies for two keys."""

import sys

import numpy as np
import triton
import triton.language as tl

hooked = []


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64, "MODE": "right"}, num_warps=1),
        triton.Config({"BLOCK": 256, "MODE": "right"}, num_warps=1, pre_hook=lambda values: hooked.append(values["BLOCK"])),
        triton.Config({"BLOCK": 1024, "MODE": "wrong"}, num_warps=4),  # the fastest (it sums a part)
        triton.Config({"BLOCK": 256, "MODE": "outside"}, num_warps=1),
        triton.Config({"BLOCK": 100, "MODE": "right"}, num_warps=1),
    ],
    key=["columns"],
)
@triton.jit
def row_sum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr, MODE: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    last = columns
    if MODE == "wrong":
        last = BLOCK
    for start in range(0, last, BLOCK):
        place = start + tl.arange(0, BLOCK)
        if MODE == "outside":
            place += 1 << 28
        total += tl.load(x_ptr + row * columns + place, mask=place < (1 << 30 if MODE == "outside" else columns), other=0.0)
    tl.store(out_ptr + row, tl.sum(total))


@triton.autotune([triton.Config({"BLOCK": size}, num_warps=warps) for size in (64, 256) for warps in (1, 2)], key=["n"])
@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=place < n), mask=place < n)


x = np.random.default_rng(0).random((4, 2048), np.float32)
out = np.zeros(4, np.float32)
row_sum[(4,)](x, out, x.shape[1])
assert np.allclose(out, x.sum(1), rtol=1e-4), out
for n in (500, 1000):
    flat, copied = x.reshape(-1)[:n].copy(), np.zeros(n, np.float32)
    copy[lambda meta: (triton.cdiv(meta["n"] if "n" in meta else n, meta["BLOCK"]),)](flat, copied, n)
    assert (copied == flat).all()
print("sums", row_sum.best_config.kwargs, "copies", len(copy.cache), "hooked", len(hooked))
sys.stdout.flush()
