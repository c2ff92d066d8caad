"""`torch.cuda` of the emulated GPU.

The one idea to keep in mind: streams run in order and at once, so most of what programs ask is answered by doing nothing; what needs a real GPU says so,
with the line of the program.
"""

import contextlib
import traceback
import types

from . import hip, timing, torch_tensors


class Stream:
    """A stream; all are in order and done at once."""

    cuda_stream = 0

    def __init__(self, device=None, priority=0, **_):
        self.device, self.priority = device, priority

    def synchronize(self):
        pass

    def query(self):
        return True

    def wait_event(self, event):
        pass

    def wait_stream(self, stream):
        pass

    def record_event(self, event=None):
        event = event or timing.Event()
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class Unsupported(NotImplementedError):
    """The program asks for what the emulated GPU does not have."""


def unsupported(what):
    """Says what is not there, and where the program asks for it."""
    frames = [frame for frame in traceback.extract_stack() if "rockhound_live" not in frame.filename and "/torch/" not in frame.filename]
    where = f"\n  {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}" if frames else ""
    raise Unsupported(f"`{what}` needs a GPU's own software, which the emulated GPU does not have{where}")


def _unsupported_class(name):
    def __init__(self, *_, **__):
        unsupported(f"torch.cuda.{name}")

    return type(name, (), {"__init__": __init__})


def _properties(device=None):
    facts = hip.properties(_number(device))
    return types.SimpleNamespace(
        name=facts["name"],
        major=facts["major"],
        minor=facts["minor"],
        total_memory=facts["totalGlobalMem"],
        multi_processor_count=facts["multiProcessorCount"],
        gcnArchName=facts["gcnArchName"],
        warp_size=facts["warpSize"],
        max_threads_per_multi_processor=facts["maxThreadsPerMultiProcessor"],
        regs_per_multiprocessor=facts["regsPerBlock"],
        shared_memory_per_block=facts["sharedMemPerBlock"],
        shared_memory_per_block_optin=facts["sharedMemPerBlock"],
        shared_memory_per_multiprocessor=facts["sharedMemPerBlock"],
        L2_cache_size=facts["l2CacheSize"],
        clock_rate=facts["clockRate"],
        memory_clock_rate=facts["memoryClockRate"],
        memory_bus_width=facts["memoryBusWidth"],
        is_integrated=0,
        is_multi_gpu_board=0,
    )


def _number(device):
    """The number of a device in any of the ways to write it."""
    if device is None:
        return hip.current_device()
    if isinstance(device, int):
        return device
    index = getattr(device, "index", None)
    if index is None and isinstance(device, str) and ":" in device:
        index = int(device.rsplit(":", 1)[1])
    return hip.current_device() if index is None else index


class _Device(contextlib.ContextDecorator):
    """`with torch.cuda.device(n)`."""

    def __init__(self, device):
        self.device = _number(device) if not hasattr(device, "untyped_storage") else 0

    def __enter__(self):
        self.before = hip.current_device()
        hip.set_device(max(self.device, 0))

    def __exit__(self, *_):
        hip.set_device(self.before)
        return False


def _no_compiler(model=None, **_):
    hip.say_once("torch.compile is passed over: functions run as they are written, and kernels that it would write are not emulated")
    return model if model is not None else lambda function: function


def install(torch):
    """The program's GPU is the emulated one."""
    if getattr(torch.version, "hip", None):
        hip.say_once(
            "torch is compiled for ROCm: its own operations need a GPU\nhint: a torch for the CPU (or for CUDA) works: tensors stay on the CPU, kernels "
            "of Triton run on the emulated GPU"
        )
        return
    if not hasattr(torch.Tensor, "untyped_storage"):
        hip.say_once(
            f"torch {torch.__version__} is too old: its tensors stay off the emulated GPU\nhint: torch 2.1 or later, or arrays of NumPy"
        )
        return
    cuda = torch.cuda
    nothing = lambda *_, **__: None  # noqa: E731
    stream = Stream()
    memory = lambda device=None: 0  # noqa: E731
    answers = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": nothing,
        "device_count": hip.device_count,
        "current_device": hip.current_device,
        "set_device": lambda device: hip.set_device(_number(device)),
        "get_device_name": lambda device=None: hip.properties(_number(device))["name"],
        "get_device_capability": lambda device=None: tuple(hip.properties(_number(device))[each] for each in ("major", "minor")),
        "get_device_properties": _properties,
        "get_arch_list": lambda: [hip.properties()["gcnArchName"].split(":")[0]],
        "is_bf16_supported": lambda including_emulation=True: True,
        "can_device_access_peer": lambda device, peer: True,
        "synchronize": nothing,
        "ipc_collect": nothing,
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "set_stream": nothing,
        "stream": lambda chosen: chosen if chosen is not None else stream,
        "empty_cache": nothing,
        "mem_get_info": lambda device=None: (hip.properties(_number(device))["totalGlobalMem"],) * 2,
        "memory_allocated": memory,
        "max_memory_allocated": memory,
        "memory_reserved": memory,
        "memory_summary": lambda device=None, abbreviated=False: "memory is not counted on the emulated GPU",
        "max_memory_reserved": memory,
        "reset_peak_memory_stats": nothing,
        "reset_max_memory_allocated": nothing,
        "manual_seed": nothing,
        "manual_seed_all": nothing,
        "seed": nothing,
        "seed_all": nothing,
        "Stream": Stream,
        "ExternalStream": Stream,
        "StreamContext": lambda chosen: chosen,
        "Event": timing.Event,
        "device": _Device,
        "device_of": _Device,
        "_lazy_init": lambda: unsupported("torch.cuda"),
        "_is_compiled": lambda: True,
        "get_rng_state": lambda device="cuda": torch.get_rng_state(),
        "set_rng_state": lambda state, device="cuda": torch.set_rng_state(state),
    }
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    for name in ("CUDAGraph", "graph", "MemPool"):
        setattr(cuda, name, _unsupported_class(name))
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(cuda.nvtx, name, nothing)
    cuda.nvtx.range = contextlib.nullcontext
    # Programs ask which kind of GPU there is.
    torch.version.hip, torch.version.cuda = "7.1.0", None
    torch.compile = _no_compiler
    _autocast(torch)
    torch_tensors.install(torch)


def _autocast(torch):
    """`torch.autocast("cuda")` lowers operations on tensors whose memory is the CPU's."""
    original = torch.amp.autocast_mode.autocast.__init__

    def __init__(self, device_type, dtype=None, *arguments, **options):
        if device_type in ("cuda", "hip"):
            device_type, dtype = "cpu", dtype or torch.float16
        original(self, device_type, dtype, *arguments, **options)

    torch.amp.autocast_mode.autocast.__init__ = __init__


def no_extensions(module):
    """Libraries of CUDA or HIP that the program wants compiled cannot be."""

    def guarded(name, function):
        def load(*arguments, **options):
            sources = options.get("sources") or (arguments[1] if len(arguments) > 1 else ())
            files = [sources] if isinstance(sources, str) else list(sources)
            if options.get("cuda_sources") or options.get("with_cuda") or any(str(it).endswith((".cu", ".hip")) for it in files):
                unsupported(f"torch.utils.cpp_extension.{name}")
            return function(*arguments, **options)

        return load

    for name in ("load", "load_inline"):
        setattr(module, name, guarded(name, getattr(module, name)))
