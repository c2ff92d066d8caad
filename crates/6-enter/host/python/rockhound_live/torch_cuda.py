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

    def is_capturing(self):
        return False

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
    if isinstance(device, str):
        index = int(device.rsplit(":", 1)[1]) if ":" in device else None
    else:
        index = getattr(device, "index", None)
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


class Generator:
    """Random numbers of the GPU as programs with kernels of their own ask for them: a seed and an offset."""

    def __init__(self, torch):
        self.torch, self._seed, self._offset = torch, torch.initial_seed(), 0
        self.device = torch.device("cuda", 0)

    def manual_seed(self, seed):
        self._seed, self._offset = int(seed), 0
        # Random numbers of torch's own operations are the CPU's.
        self.torch.default_generator.manual_seed(self._seed)
        return self

    def seed(self):
        return self.manual_seed(self.torch.seed())._seed

    def initial_seed(self):
        return self._seed

    def get_offset(self):
        return self._offset

    def set_offset(self, offset):
        self._offset = int(offset)

    def get_state(self):
        words = [self._seed - (1 << 64) if self._seed >> 63 else self._seed, self._offset]
        return self.torch.tensor(words, dtype=self.torch.int64).view(self.torch.uint8)

    def set_state(self, state):
        seed, self._offset = state.view(self.torch.int64).tolist()
        self._seed = seed & 0xFFFF_FFFF_FFFF_FFFF
        return self


def _nothing(_):
    return lambda *_, **__: None


def _value(value):
    """An answer that is always the same."""
    return lambda _: lambda *_, **__: value


def _fact(name):
    """An answer that is a fact of the GPU."""
    return lambda _: lambda device=None: hip.properties(_number(device))[name]


def _seeds(torch):
    """Seeds the generators, with a number or with one of the system's."""

    def seed(number=None):
        for generator in torch.cuda.default_generators:
            generator.seed() if number is None else generator.manual_seed(number)

    return seed


def _memory_info(_):
    return lambda device=None: (hip.properties(_number(device))["totalGlobalMem"],) * 2


_STREAM = Stream()

# Module of torch, name, what the answer is, and the function that makes it for torch.
ANSWERS = [
    ("cuda", "is_available", "true", _value(True)),
    ("cuda", "is_initialized", "true", _value(True)),
    ("cuda", "init", "does nothing", _nothing),
    ("cuda", "device_count", "the GPUs of `--devices`", lambda _: lambda: hip.device_count()),
    ("cuda", "current_device", "the GPU in use", lambda _: lambda: hip.current_device()),
    ("cuda", "set_device", "uses a GPU", lambda _: lambda device: hip.set_device(_number(device))),
    ("cuda", "get_device_name", "fact of the GPU", _fact("name")),
    (
        "cuda",
        "get_device_capability",
        "fact of the GPU",
        lambda _: lambda device=None: tuple(hip.properties(_number(device))[each] for each in ("major", "minor")),
    ),
    ("cuda", "get_device_properties", "facts of the GPU", lambda _: lambda device=None: _properties(device)),
    ("cuda", "get_arch_list", "the target", lambda _: lambda: [hip.properties()["gcnArchName"].split(":")[0]]),
    ("cuda", "is_bf16_supported", "true", _value(True)),
    ("cuda", "can_device_access_peer", "true", _value(True)),
    ("cuda", "synchronize", "does nothing: work ends when its launch returns", _nothing),
    ("cuda", "ipc_collect", "does nothing", _nothing),
    ("cuda", "current_stream", "a stream that is always done", _value(_STREAM)),
    ("cuda", "default_stream", "a stream that is always done", _value(_STREAM)),
    ("cuda", "set_stream", "does nothing", _nothing),
    ("cuda", "stream", "the stream given", lambda _: lambda chosen: chosen if chosen is not None else _STREAM),
    ("cuda", "is_current_stream_capturing", "false", _value(False)),
    ("cuda", "_sleep", "does nothing", _nothing),
    ("cuda", "empty_cache", "does nothing", _nothing),
    ("cuda", "mem_get_info", "all memory is free", _memory_info),
    ("cuda", "memory_allocated", "0: memory is not counted", _value(0)),
    ("cuda", "max_memory_allocated", "0: memory is not counted", _value(0)),
    ("cuda", "memory_reserved", "0: memory is not counted", _value(0)),
    ("cuda", "max_memory_reserved", "0: memory is not counted", _value(0)),
    ("cuda", "memory_summary", "says that memory is not counted", _value("memory is not counted on the emulated GPU")),
    ("cuda", "memory_stats", "empty: memory is not counted", lambda _: lambda device=None: {}),
    ("cuda", "reset_peak_memory_stats", "does nothing", _nothing),
    ("cuda", "reset_max_memory_allocated", "does nothing", _nothing),
    ("cuda", "reset_accumulated_memory_stats", "does nothing", _nothing),
    ("cuda", "default_generators", "a seed and an offset for each GPU", lambda torch: (Generator(torch),)),
    ("cuda", "manual_seed", "seeds torch's generator", _seeds),
    ("cuda", "manual_seed_all", "seeds torch's generator", _seeds),
    ("cuda", "seed", "seeds torch's generator", _seeds),
    ("cuda", "seed_all", "seeds torch's generator", _seeds),
    ("cuda", "initial_seed", "the seed", lambda torch: lambda: torch.cuda.default_generators[0].initial_seed()),
    ("cuda", "get_rng_state", "the CPU's", lambda torch: lambda device="cuda": torch.get_rng_state()),
    ("cuda", "set_rng_state", "the CPU's", lambda torch: lambda state, device="cuda": torch.set_rng_state(state)),
    ("cuda", "Stream", "a stream that is always done", lambda _: Stream),
    ("cuda", "ExternalStream", "a stream that is always done", lambda _: type("ExternalStream", (Stream,), {})),
    ("cuda", "StreamContext", "the stream given", lambda _: lambda chosen: chosen),
    ("cuda", "Event", "a moment of modelled time", lambda _: timing.Event),
    ("cuda", "device", "uses a GPU", lambda _: _Device),
    ("cuda", "device_of", "uses the GPU of a tensor", lambda _: type("device_of", (_Device,), {})),
    ("cuda", "_lazy_init", "an error: torch's own operation for CUDA", lambda _: lambda: unsupported("torch.cuda")),
    ("cuda", "_is_compiled", "true", _value(True)),
    ("cuda", "CUDAGraph", "an error", lambda _: _unsupported_class("CUDAGraph")),
    ("cuda", "graph", "an error", lambda _: _unsupported_class("graph")),
    ("cuda", "MemPool", "an error", lambda _: _unsupported_class("MemPool")),
    ("accelerator", "is_available", "true", _value(True)),
    ("accelerator", "device_count", "the GPUs of `--devices`", lambda _: lambda: hip.device_count()),
    ("accelerator", "current_accelerator", "`cuda`", lambda torch: lambda check_available=False: torch.device("cuda")),
    ("accelerator", "current_device_index", "the GPU in use", lambda _: lambda: hip.current_device()),
    ("accelerator", "current_device_idx", "the GPU in use", lambda _: lambda: hip.current_device()),
    ("accelerator", "set_device_index", "uses a GPU", lambda _: lambda device: hip.set_device(_number(device))),
    ("accelerator", "set_device_idx", "uses a GPU", lambda _: lambda device: hip.set_device(_number(device))),
    ("accelerator", "synchronize", "does nothing: work ends when its launch returns", _nothing),
    ("accelerator", "current_stream", "a stream that is always done", _value(_STREAM)),
    ("accelerator", "set_stream", "does nothing", _nothing),
    ("accelerator", "empty_cache", "does nothing", _nothing),
    ("accelerator", "get_memory_info", "all memory is free", _memory_info),
    ("accelerator", "memory_allocated", "0: memory is not counted", _value(0)),
    ("accelerator", "max_memory_allocated", "0: memory is not counted", _value(0)),
]


def _profiler(torch):
    """The profiler of torch sees the CPU; CUPTI has no GPU to look at."""
    activity = torch.profiler.ProfilerActivity
    original = torch.profiler.profile.__init__

    def __init__(self, *arguments, **options):
        activities = options.get("activities")
        if activities is not None:
            options["activities"] = [it for it in activities if it != activity.CUDA] or [activity.CPU]
        else:
            options["activities"] = [activity.CPU]
        original(self, *arguments, **options)

    torch.profiler.profile.__init__ = __init__


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
    for place, name, _, make in ANSWERS:
        owner = getattr(torch, place, None)
        if owner is not None:
            answer = make(torch)
            with contextlib.suppress(AttributeError, TypeError):
                # torch tells its functions apart by identity and says their names.
                answer.__name__ = answer.__qualname__ = name
            setattr(owner, name, answer)
    nvtx = torch.cuda.nvtx
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(nvtx, name, _nothing(torch))
    nvtx.range = contextlib.nullcontext
    # Programs ask which kind of GPU there is.
    torch.version.hip, torch.version.cuda = "7.1.0", None
    torch.compile = _no_compiler
    _autocast(torch)
    _profiler(torch)
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
