"""Every answer of the emulated GPU to questions of `torch.cuda` and `torch.accelerator`, and what else a GPU's programs do with torch."""

import copy
import sys

import torch
import torch._dynamo  # noqa: F401: it tells functions of torch apart by identity
import triton
import triton.language as tl

cuda, accelerator = torch.cuda, torch.accelerator
gpu = torch.ones(4, device="cuda")
host = torch.ones(4)


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def raises(kind, text, function):
    """Whether a function raises an error that says this."""
    try:
        function()
    except kind as error:
        return text in str(error)
    return False


def seeds(seed):
    """Whether a seed repeats random numbers."""
    seed(7)
    first = torch.rand(3, device="cuda")
    seed(7)
    return bool((first == torch.rand(3, device="cuda")).all())


def enters(manager):
    with manager:
        return cuda.current_device() == 0


def restores(state):
    torch.cuda.set_rng_state(state)
    first = torch.rand(2)
    torch.cuda.set_rng_state(state)
    return bool((first == torch.rand(2)).all())


def is_done(stream):
    return stream.query() and stream.cuda_stream == 0


def is_nothing(answer):
    return answer is None


# A row for each answer: whether it is what is to be.
ROWS = {
    "cuda.is_available": lambda: cuda.is_available() is True,
    "cuda.is_initialized": lambda: cuda.is_initialized() is True,
    "cuda.init": lambda: is_nothing(cuda.init()),
    "cuda.device_count": lambda: cuda.device_count() == 1,
    "cuda.current_device": lambda: cuda.current_device() == 0,
    "cuda.set_device": lambda: is_nothing(cuda.set_device("cuda:0")),
    "cuda.get_device_name": lambda: "MI300X" in cuda.get_device_name(0),
    "cuda.get_device_capability": lambda: cuda.get_device_capability() == (9, 4),
    "cuda.get_device_properties": lambda: cuda.get_device_properties("cuda").multi_processor_count == 304,
    "cuda.get_arch_list": lambda: cuda.get_arch_list() == ["gfx942"],
    "cuda.is_bf16_supported": lambda: cuda.is_bf16_supported(),
    "cuda.can_device_access_peer": lambda: cuda.can_device_access_peer(0, 0),
    "cuda.synchronize": lambda: is_nothing(cuda.synchronize()),
    "cuda.ipc_collect": lambda: is_nothing(cuda.ipc_collect()),
    "cuda.current_stream": lambda: is_done(cuda.current_stream()),
    "cuda.default_stream": lambda: is_done(cuda.default_stream()),
    "cuda.set_stream": lambda: is_nothing(cuda.set_stream(cuda.current_stream())),
    "cuda.stream": lambda: enters(cuda.stream(cuda.Stream())) and enters(cuda.stream(None)),
    "cuda.is_current_stream_capturing": lambda: cuda.is_current_stream_capturing() is False,
    "cuda._sleep": lambda: is_nothing(cuda._sleep(100)),
    "cuda.empty_cache": lambda: is_nothing(cuda.empty_cache()),
    "cuda.mem_get_info": lambda: cuda.mem_get_info()[0] > 1 << 37,
    "cuda.memory_allocated": lambda: cuda.memory_allocated() == 0,
    "cuda.max_memory_allocated": lambda: cuda.max_memory_allocated() == 0,
    "cuda.memory_reserved": lambda: cuda.memory_reserved() == 0,
    "cuda.max_memory_reserved": lambda: cuda.max_memory_reserved() == 0,
    "cuda.memory_summary": lambda: "not counted" in cuda.memory_summary(),
    "cuda.memory_stats": lambda: cuda.memory_stats() == {},
    "cuda.reset_peak_memory_stats": lambda: is_nothing(cuda.reset_peak_memory_stats()),
    "cuda.reset_max_memory_allocated": lambda: is_nothing(cuda.reset_max_memory_allocated()),
    "cuda.reset_accumulated_memory_stats": lambda: is_nothing(cuda.reset_accumulated_memory_stats()),
    "cuda.default_generators": lambda: len(cuda.default_generators[0].get_state()) == 16,
    "cuda.manual_seed": lambda: seeds(cuda.manual_seed) and cuda.initial_seed() == 7,
    "cuda.manual_seed_all": lambda: seeds(cuda.manual_seed_all),
    "cuda.seed": lambda: is_nothing(cuda.seed()),
    "cuda.seed_all": lambda: is_nothing(cuda.seed_all()),
    "cuda.initial_seed": lambda: cuda.initial_seed() == cuda.default_generators[0].initial_seed(),
    "cuda.get_rng_state": lambda: restores(cuda.get_rng_state()),
    "cuda.set_rng_state": lambda: is_nothing(cuda.set_rng_state(cuda.get_rng_state())),
    "cuda.Stream": lambda: is_done(cuda.Stream(priority=-1)),
    "cuda.ExternalStream": lambda: is_done(cuda.ExternalStream(0)),
    "cuda.StreamContext": lambda: enters(cuda.StreamContext(cuda.Stream())),
    "cuda.Event": lambda: is_nothing(cuda.Event(enable_timing=True).record()),
    "cuda.device": lambda: enters(cuda.device(0)),
    "cuda.device_of": lambda: enters(cuda.device_of(gpu)),
    "cuda._lazy_init": lambda: raises(NotImplementedError, "torch_answers.py", cuda._lazy_init),
    "cuda._is_compiled": lambda: cuda._is_compiled(),
    "cuda.CUDAGraph": lambda: raises(NotImplementedError, "torch.cuda.CUDAGraph", cuda.CUDAGraph),
    "cuda.graph": lambda: raises(NotImplementedError, "torch.cuda.graph", lambda: cuda.graph(None)),
    "cuda.MemPool": lambda: raises(NotImplementedError, "torch.cuda.MemPool", cuda.MemPool),
    "accelerator.is_available": lambda: accelerator.is_available() is True,
    "accelerator.device_count": lambda: accelerator.device_count() == 1,
    "accelerator.current_accelerator": lambda: accelerator.current_accelerator().type == "cuda",
    "accelerator.current_device_index": lambda: accelerator.current_device_index() == 0,
    "accelerator.current_device_idx": lambda: accelerator.current_device_idx() == 0,
    "accelerator.set_device_index": lambda: is_nothing(accelerator.set_device_index(0)),
    "accelerator.set_device_idx": lambda: is_nothing(accelerator.set_device_idx(0)),
    "accelerator.synchronize": lambda: is_nothing(accelerator.synchronize()),
    "accelerator.current_stream": lambda: is_done(accelerator.current_stream()),
    "accelerator.set_stream": lambda: is_nothing(accelerator.set_stream(cuda.Stream())),
    "accelerator.empty_cache": lambda: is_nothing(accelerator.empty_cache()),
    "accelerator.get_memory_info": lambda: accelerator.get_memory_info()[1] > 1 << 37,
    "accelerator.memory_allocated": lambda: accelerator.memory_allocated() == 0,
    "accelerator.max_memory_allocated": lambda: accelerator.max_memory_allocated() == 0,
}


def steps(kind):
    """Whether an optimizer moves the parameters of a model on the GPU."""
    model = torch.nn.Linear(3, 2).cuda()
    before = model.weight.detach().clone()
    model(torch.ones(1, 3, device="cuda")).sum().backward()
    kind(model.parameters(), lr=0.1).step()
    return model.weight.is_cuda and not torch.equal(before, model.weight)


class Passes:
    """No tensor, but it passes on to one, as libraries' own views do."""

    dtype = torch.float32

    def __init__(self, tensor):
        self.tensor = tensor

    def data_ptr(self):
        return self.tensor.data_ptr()

    def untyped_storage(self):
        return self.tensor.untyped_storage()


def doubled(x, y):
    double[(1,)](x, y, 4, BLOCK=4)
    return y.tolist() == [2.0] * 4


def out_dtype():
    left = torch.full((2, 3), 1.5, dtype=torch.bfloat16, device="cuda")
    product = torch.mm(left, left.mT, out_dtype=torch.float32)
    summed = torch.addmm(torch.ones(2, 2, device="cuda"), left, left.mT, out_dtype=torch.float32)
    return product.dtype == torch.float32 and product.is_cuda and product[0, 0] == 6.75 and summed[0, 0] == 7.75


def default_device():
    torch.set_default_device("cuda")
    try:
        return torch.zeros(2).is_cuda
    finally:
        torch.set_default_device("cpu")


def pinned_loader():
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    return sum(batch.cuda().sum().item() for (batch,) in torch.utils.data.DataLoader(data, 4, pin_memory=True)) == 28


def stays_itself():
    """A tensor that is where it is sent is itself, also where the default device is the GPU."""
    is_same = gpu.to("cuda") is gpu and gpu.to(gpu.device) is gpu and host.to("cpu") is host and gpu.to(torch.float32) is gpu
    torch.set_default_device("cuda")
    try:
        made = torch.ones(2)
        is_same &= made.to("cuda") is made and made.to(device=gpu.device).is_cuda and made.to(torch.float16).is_cuda
        return is_same and not made.to("cpu").is_cuda and made.to("cpu").to(made).is_cuda
    finally:
        torch.set_default_device(None)


def own_operation():
    @torch.library.custom_op("rockhound_test::twice", mutates_args=(), device_types="cuda")
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @torch.library.custom_op("rockhound_test::of_columns", mutates_args=())
    def of_columns(x: torch.Tensor) -> torch.Tensor:
        columns = x.t().contiguous() + 0
        result = torch.empty(columns.shape, device=columns.device)
        double[(1,)](columns, result, columns.numel(), BLOCK=16)
        return result

    table = torch.arange(6.0, device="cuda").view(2, 3)
    return twice(gpu).tolist() == [2.0] * 4 and of_columns(table).tolist() == [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]]


def own_kernel():
    library = torch.library.Library("rockhound_own", "DEF")
    library.define("thrice(Tensor x) -> Tensor")
    library.impl("thrice", lambda x: x * 3, "CUDA")
    return torch.ops.rockhound_own.thrice(gpu).tolist() == [3.0] * 4


def replaced_operation():
    """A kernel for an operation of torch acts on tensors of the GPU, until its library is gone, also in backward passes."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("mul.Tensor", lambda x, y: torch.full_like(x, 7), "CUDA")
    x = torch.ones(4, device="cuda", requires_grad=True)
    y = x * 3
    y.sum().backward()
    with_it = (y[0].item(), x.grad[0].item(), (host * 3)[0].item(), y.is_cuda)
    library._destroy()
    return with_it == (7, 7, 3, True) and (gpu * 3)[0].item() == 3


def kernels_of_both_sides():
    """The kernel for the place of the tensors, whatever was registered first and however."""
    library = torch.library.Library("rockhound_sides", "FRAGMENT")
    library.define("side(Tensor x) -> Tensor")
    library.impl("side", lambda x: x * 10, "CUDA")
    library.impl("side", lambda x: x * 20, "CPU")
    of_gpu = torch.library.Library("rockhound_sides", "IMPL", "CUDA")
    library.define("only(Tensor x) -> Tensor")
    of_gpu.impl("only", lambda x: x * 30)

    @torch.library.custom_op("rockhound_sides::every", mutates_args=())
    def every(x: torch.Tensor) -> torch.Tensor:
        return x * 40

    every.register_kernel("cuda")(lambda x: x * 50)
    side, only = torch.ops.rockhound_sides.side, torch.ops.rockhound_sides.only
    values = [it[0].item() for it in (side(gpu), side(host), only(gpu), every(gpu), every(host))]
    is_twice_refused = raises(RuntimeError, "already a kernel registered", lambda: library.impl("side", lambda x: x, "CUDA"))
    return values == [10, 20, 30, 50, 40] and side(gpu).is_cuda and not side(host).is_cuda and is_twice_refused


def profiled():
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        gpu + gpu
    return len(profiler.key_averages()) > 0


def faults():
    # A kernel that is stopped is an exception, and the next one runs.
    small = torch.ones(4, device="cuda")
    stopped = raises(RuntimeError, "float32 [4]", lambda: double[(1,)](small, torch.zeros(1 << 14, device="cuda"), 1 << 14, BLOCK=1 << 14))
    return stopped and doubled(gpu, torch.zeros(4, device="cuda"))


class Gradient(torch.autograd.Function):
    """Doubles by a kernel in the backward pass too, of the gradient or of another tensor."""

    @staticmethod
    def forward(context, x, other):
        context.other = other
        return x * 2

    @staticmethod
    def backward(context, gradient):
        out = torch.empty_like(gradient)
        double[(1,)](context.other(gradient) if context.other else gradient, out, gradient.numel(), BLOCK=4)
        return out, None


def back(other=None):
    x = torch.ones(4, device="cuda", requires_grad=True)
    (Gradient.apply(x, other) * gpu).sum().backward()
    return x.grad.is_cuda and x.grad.tolist() == [2.0] * 4


def refused_back(other):
    return raises(ValueError, "`x`", lambda: back(other))


MORE = {
    "gradients": lambda: (
        back() and back(lambda it: it * 1) and back(lambda it: torch.ones(4, device=it.device)) and back(torch.ones_like) and back(lambda it: it.new_ones(4))
    ),
    "arguments on the CPU in a backward pass": lambda: all(map(refused_back, (lambda _: host, lambda _: torch.ones(4), lambda it: it.cpu()))),
    "SGD, Adam and AdamW": lambda: all(map(steps, (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW))),
    "objects with `data_ptr`": lambda: doubled(Passes(gpu), torch.zeros(4, device="cuda")),
    "arguments on the CPU": lambda: raises(ValueError, "`x`", lambda: doubled(host, gpu)),
    "pinned arguments": lambda: doubled(torch.ones(4, pin_memory=True), torch.zeros(4, device="cuda")),
    "results of operations as arguments": lambda: doubled((gpu + 1) / 2, torch.zeros_like(gpu)),
    "operands on two devices": lambda: raises(RuntimeError, "same device", lambda: gpu + host) and bool((gpu + torch.tensor(1.0)).is_cuda),
    "`numpy` of the GPU's": lambda: raises(TypeError, "Tensor.cpu()", gpu.numpy) and gpu.cpu().numpy().sum() == 4,
    "a GPU that is not there": lambda: raises(RuntimeError, "invalid device ordinal", lambda: torch.zeros(1, device="cuda:1")),
    "`type`": lambda: gpu.type() == "torch.cuda.FloatTensor" and host.type() == "torch.FloatTensor" and host.type("torch.cuda.HalfTensor").is_cuda,
    "products with `out_dtype`": out_dtype,
    "`set_default_device`": default_device,
    "pinned memory": lambda: torch.ones(2, pin_memory=True).is_pinned() and host.pin_memory().is_pinned() and not gpu.is_pinned(),
    "`DataLoader` with pinned memory": pinned_loader,
    "a tensor that is there already": stays_itself,
    "operations of the program's own": own_operation,
    "kernels of the program's own": own_kernel,
    "kernels of the program's own for the CPU and the GPU": kernels_of_both_sides,
    "kernels of the program's own for operations of torch": replaced_operation,
    "`vmap` and `func`": lambda: torch.vmap(lambda x: x * 2)(gpu).is_cuda and torch.func.grad(lambda x: (x * x).sum())(gpu).is_cuda,
    "DLPack": lambda: torch.from_dlpack(gpu).is_cuda,
    "profiler": profiled,
    "copies": lambda: copy.deepcopy(gpu).is_cuda,
    "faults": faults,
}

answers = {f"{place}.{name}" for place, name, *_ in sys.modules["rockhound_live.torch_cuda"].ANSWERS}
assert answers == ROWS.keys(), f"without a row here: {answers - ROWS.keys()}; without an answer: {ROWS.keys() - answers}"
wrong = []
for what, row in {**ROWS, **MORE}.items():
    if what.startswith("accelerator.") and not hasattr(accelerator, what.split(".")[1]):
        continue
    try:
        if not row():
            wrong.append(f"{what}: not so")
    except Exception as error:  # noqa: BLE001: each row says how it fails
        wrong.append(f"{what}: {type(error).__name__}: {error}")
print("\n".join(wrong) or f"all {len(ROWS) + len(MORE)} answers are right")
sys.exit(bool(wrong))
