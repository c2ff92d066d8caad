"""A layer norm forward and backward: the partial sums of the gradients of weight and bias are added under locks."""

import torch
import triton
import triton.language as tl

DEVICE = torch.device("cuda")


@triton.jit
def forward_kernel(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    mean = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mean += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(mean, axis=0) / N
    var = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        var += x * x
    rstd = 1 / tl.sqrt(tl.sum(var, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def backward_kernel(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    lock_id = row % GROUPS
    Lock += lock_id
    Count = Lock + GROUPS
    DW += lock_id * N + cols
    DB += lock_id * N + cols
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(DX + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shape, weight, bias, eps):
        y = torch.empty_like(x)
        M, N = x.shape
        mean = torch.empty((M,), dtype=torch.float32, device=x.device)
        rstd = torch.empty((M,), dtype=torch.float32, device=x.device)
        ctx.block = triton.next_power_of_2(N)
        forward_kernel[(M,)](x, y, weight, bias, mean, rstd, x.stride(0), N, eps, BLOCK=ctx.block, num_warps=4, num_ctas=1)
        ctx.save_for_backward(x, weight, bias, mean, rstd)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, b, mean, rstd = ctx.saved_tensors
        M, N = x.shape
        GROUPS = 8
        locks = torch.zeros(2 * GROUPS, dtype=torch.int32, device=w.device)
        dw = torch.zeros((GROUPS, N), dtype=torch.float32, device=w.device)
        db = torch.zeros((GROUPS, N), dtype=torch.float32, device=w.device)
        dx = torch.empty_like(dy)
        backward_kernel[(M,)](dx, dy, dw, db, x, w, mean, rstd, locks, x.stride(0), N, GROUPS=GROUPS, BLOCK=ctx.block, num_warps=4)
        return dx, None, dw.sum(0).to(w.dtype), db.sum(0).to(b.dtype), None


torch.manual_seed(0)
M, N, dtype = 37, 192, torch.float16
weight = torch.rand((N,), dtype=dtype, device=DEVICE, requires_grad=True)
bias = torch.rand((N,), dtype=dtype, device=DEVICE, requires_grad=True)
x = -2.3 + 0.5 * torch.randn((M, N), dtype=dtype, device="cuda")
dy = 0.1 * torch.randn_like(x)
x.requires_grad_(True)
assert x.is_cuda and dy.device.type == "cuda" and (x * 2).cpu().device.type == "cpu"
y = LayerNorm.apply(x, (N,), weight, bias, 1e-5)
y.backward(dy, retain_graph=True)
dx, dw, db = (each.grad.clone() for each in (x, weight, bias))
x.grad, weight.grad, bias.grad = None, None, None
expected = torch.nn.functional.layer_norm(x, (N,), weight, bias, 1e-5).to(dtype)
expected.backward(dy, retain_graph=True)
assert torch.allclose(y, expected, atol=1e-2, rtol=0)
assert torch.allclose(dx, x.grad, atol=1e-2, rtol=0)
assert torch.allclose(db, bias.grad, atol=1e-2, rtol=0)
assert torch.allclose(dw, weight.grad, atol=1e-2, rtol=0)
print("layer norm and its gradients equal torch's")
