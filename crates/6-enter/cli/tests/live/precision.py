"""16-bit operations of torch on tensors that the program has on the GPU: as exact as there, whatever the CPU's libraries do."""

import torch

torch.manual_seed(3)
for kind in (torch.float16, torch.bfloat16):
    a = torch.randn((3, 40, 300), device="cuda", dtype=kind, requires_grad=True)
    b = torch.randn((300, 50), device="cuda", dtype=kind, requires_grad=True)
    product = a @ b
    total = torch.zeros((3, 40, 50))
    for k in range(300):
        total += a.detach().cpu().float()[:, :, k : k + 1] * b.detach().cpu().float()[k]
    assert product.is_cuda and torch.equal(product.detach().cpu(), total.to(kind))
    product.sum().backward()
    assert a.grad.shape == a.shape and b.grad.shape == b.shape and a.grad.dtype == kind
    expected = torch.ones((3, 40, 50)).double() @ b.detach().cpu().double().T
    assert torch.allclose(a.grad.cpu().double(), expected, rtol=1e-2, atol=0.1)
    # What stays on the CPU is torch's own.
    assert not (a.detach().cpu() @ b.detach().cpu()).is_cuda

x = torch.randn((400, 64), device="cuda", dtype=torch.float16, requires_grad=True)
w = torch.rand(64, device="cuda", dtype=torch.float16, requires_grad=True)
y = torch.nn.functional.layer_norm(x, (64,), w, None)
assert y.is_cuda and y.dtype == torch.float16
y.backward(torch.ones_like(y))
wide = w.detach().cpu().double().requires_grad_(True)
torch.nn.functional.layer_norm(x.detach().cpu().double(), (64,), wide, None).sum().backward()
error = (w.grad.cpu().double() - wide.grad).abs().max().item()
assert error < 0.02, error

# A sum of 65,536 float32 numbers one after the other is wrong in the fourth digit.
x = torch.randn((8, 12, 8192), device="cuda")
upper = torch.randn((8, 12, 8192), device="cuda")
bias, wide = (torch.zeros(12, device=device, dtype=kind, requires_grad=True) for device, kind in (("cuda", torch.float32), ("cpu", torch.float64)))
y = torch.nn.functional.group_norm(x, 4, torch.ones(12, device="cuda"), bias)
y.backward(upper)
torch.nn.functional.group_norm(x.cpu().double(), 4, torch.ones(12).double(), wide).backward(upper.cpu().double())
error = (bias.grad.cpu() - wide.grad).abs().max().item()
assert y.is_cuda and y.dtype == torch.float32 and error < 4e-5, error
with torch.autocast("cuda"):
    assert (torch.ones((4, 4), device="cuda") @ torch.ones((4, 4), device="cuda")).dtype == torch.float16
x.record_stream(torch.cuda.current_stream())
print("products and norms are exact")
