"""Kernels add to memory that nothing has written, each in a separate line, and to memory that something has."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, out_ptr, n, LINE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    out = x
    if LINE == 0:
        out = tl.load(out_ptr + at, mask=at < n)
    if LINE == 1:
        out = tl.load(out_ptr + at, mask=at < n)
    if LINE == 2:
        out = tl.load(out_ptr + at, mask=at < n)
    if LINE == 3:
        out = tl.load(out_ptr + at, mask=at < n)
    if LINE == 4:
        out = tl.load(out_ptr + at, mask=at < n)
    if LINE == 5:
        tl.atomic_add(out_ptr + at, x, mask=at < n)
    else:
        tl.store(out_ptr + at, x + out, mask=at < n)


def add(out, line):
    add_kernel[(4,)](x, out, out.numel(), line, 256)


x = torch.randn(1000, device="cuda")
with torch.device("cuda"):
    by_default = torch.empty(1000)
new = [
    torch.empty(1000, device="cuda"),
    torch.empty_like(x),
    x.new_empty(1000),
    torch.empty_strided((10, 100), (100, 1), device="cuda"),
    by_default,
    torch.empty(1000, device="cuda"),
]
for line, out in enumerate(new):
    add(out, line)
# It is written now, by kernels or by torch.
for line, out in enumerate(new):
    add(out, line)
filled = torch.empty(1000, device="cuda")
filled[:] = 1
part = torch.empty(1000, device="cuda")
part[:600].normal_()
for out in (torch.zeros_like(x), filled, part[:600], torch.nn.Linear(100, 10, device="cuda").weight):
    add(out, 0)
