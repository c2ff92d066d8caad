"""A sum of two vectors of torch, with what programs ask of `torch.cuda`."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)

def add(x, y):
    out = torch.empty_like(x)
    assert x.device == DEVICE and y.device == DEVICE and out.device == DEVICE
    n = out.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
    add_kernel[grid](x, y, out, n, BLOCK=1024)
    return out


torch.manual_seed(0)
x = torch.rand(98432, device=DEVICE)
y = torch.rand(98432).cuda()
expected = x + y
assert torch.equal(add(x, y), expected), "sums differ from torch's"

# What is on the GPU and what is not.
assert torch.cuda.is_available() and torch.version.hip and torch.cuda.device_count() == 1
assert expected.is_cuda and not x.cpu().is_cuda and x.to("cpu").device.type == "cpu" and expected[3:].is_cuda
host = torch.zeros(4)
device = host.to("cuda")
device += 1
assert host.sum() == 0 and device.cpu().sum() == 4, "a copy is a copy"
linear = torch.nn.Linear(4, 4).to("cuda")
assert all(each.is_cuda for each in linear.parameters()) and linear(device).is_cuda
with torch.device("cuda"):
    assert torch.zeros(3).is_cuda and not torch.zeros(3, device="cpu").is_cuda
assert not torch.zeros(3).is_cuda and torch.as_tensor(host, device="cuda").is_cuda and not host.is_cuda and torch.arange(3, device=0).get_device() == 0
assert device.data_ptr() % 16 == 0 and torch.empty_like(device).is_cuda and torch.zeros_like(device, device="cpu").get_device() == -1
properties = torch.cuda.get_device_properties(0)
assert properties.gcnArchName.startswith("gfx") and properties.multi_processor_count > 0 and "AMD" in torch.cuda.get_device_name()
torch.cuda.synchronize()

# Modelled times.
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
with torch.cuda.stream(torch.cuda.Stream()):
    start.record()
    add(x, y)
    end.record()
end.synchronize()
assert 1e-4 < start.elapsed_time(end) < 0.1, start.elapsed_time(end)
assert triton.testing.do_bench(lambda: add(x, y)) < 0.1
print("sums equal torch's")
