"""Tensors of torch that the program has on the GPU.

The one idea to keep in mind: their memory is the CPU's; a mark at the storage says that the program put it on the GPU, and results of operations on
marked tensors are marked. Operations of torch itself run on the CPU.
"""

import functools
import importlib

from . import memory, torch_precision

_FACTORIES = (
    "arange as_tensor asarray empty empty_like empty_permuted empty_strided eye full full_like hann_window linspace logspace normal ones ones_like "
    "rand rand_like randint randint_like randn randn_like randperm scalar_tensor tensor tril_indices triu_indices zeros zeros_like"
)
_NEW = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"


def install(torch):
    """The program can put tensors on the GPU from now on."""
    # It looks at the functions as they are before they are wrapped.
    importlib.import_module("torch.utils._device")._device_constructors()
    base, tensor_type = torch._C.TensorBase, torch.Tensor
    disabled = torch._C.DisableTorchFunction
    tensor_type._rockhound_host_pointer = staticmethod(_plain(torch, base.data_ptr))

    def is_gpu(device):
        if device is None or isinstance(device, (torch.dtype, torch.Tensor, bool)):
            return False
        if isinstance(device, int):
            return True
        return str(device).split(":")[0] in ("cuda", "hip")

    def storage_of(tensor):
        try:
            with disabled():
                return base.untyped_storage(tensor)
        except (RuntimeError, NotImplementedError):
            # Sparse and symbolic tensors.
            return None

    def is_marked(tensor):
        return getattr(storage_of(tensor), "_rockhound_gpu", False)

    def mark(value, where=True):
        if isinstance(value, torch.Tensor):
            storage = storage_of(value)
            if storage is not None:
                storage._rockhound_gpu = where
        elif isinstance(value, (tuple, list)):
            for each in value:
                mark(each, where)
        return value

    def any_marked(values):
        for value in values:
            if isinstance(value, torch.Tensor):
                if is_marked(value):
                    return True
            elif isinstance(value, (tuple, list)) and any_marked(value):
                return True
        return False

    def factory(function):
        @functools.wraps(function)
        def create(*arguments, **options):
            device = options.get("device")
            if device is not None:
                options["device"] = "cpu" if is_gpu(device) else device
            if options.get("pin_memory"):
                options["pin_memory"] = False
            result = function(*arguments, **options)
            if device is None:
                return result
            where = is_gpu(device)
            if function.__name__ in ("as_tensor", "asarray") and is_marked(result) != where:
                # It may be the memory of what it was made from.
                result = result.clone()
            return mark(result, where)

        return create

    for name in _FACTORIES.split():
        if hasattr(torch, name):
            setattr(torch, name, factory(getattr(torch, name)))
    for name in _NEW.split():
        setattr(tensor_type, name, factory(getattr(tensor_type, name)))

    def moved(tensor, where, result):
        """A copy where the tensor changes its place."""
        if is_marked(tensor) == where:
            return result
        if storage_of(result) is storage_of(tensor):
            result = result.clone()
        return mark(result, where)

    to = tensor_type.to

    def to_device(self, *arguments, **options):
        device = options.get("device", arguments[0] if arguments and not isinstance(arguments[0], torch.Tensor) else None)
        if arguments and isinstance(arguments[0], torch.Tensor):
            return moved(self, is_marked(arguments[0]), to(self, *arguments, **options))
        if device is None or not isinstance(device, (str, int, torch.device)):
            return to(self, *arguments, **options)
        where = is_gpu(device)
        if "device" in options:
            options = {**options, "device": "cpu" if where else device}
        else:
            arguments = ("cpu" if where else device, *arguments[1:])
        return moved(self, where, to(self, *arguments, **options))

    tensor_type.to = to_device
    tensor_type.cuda = lambda self, *_, **__: moved(self, True, self)
    tensor_type.cpu = lambda self, *_, **__: moved(self, False, self)
    tensor_type.record_stream = lambda self, stream: None
    tensor_type.pin_memory = lambda self, device=None: self
    tensor_type.is_pinned = lambda self, device=None: False
    tensor_type.is_cuda = property(is_marked)
    tensor_type.get_device = lambda self: 0 if is_marked(self) else -1

    def device(self):
        return torch.device("cuda", 0) if is_marked(self) else plain_device(self)

    def plain_device(tensor):
        with disabled():
            return base.device.__get__(tensor)

    tensor_type.device = property(device)

    def data_ptr(self):
        return memory.of_storage(self, "tensor") if is_marked(self) else tensor_type._rockhound_host_pointer(self)

    tensor_type.data_ptr = data_ptr

    precise = torch_precision.install(torch)

    class Marks(torch.overrides.TorchFunctionMode):
        """Marks results of operations on marked tensors."""

        def __torch_function__(self, function, types, arguments=(), options=None):
            options = options or {}
            if is_gpu(options.get("device")):
                # From `torch.set_default_device` and `with torch.device(..)`.
                return mark(function(*arguments, **{**options, "device": "cpu"}))
            result = precise(function, arguments, options, any_marked) if function.__name__ in torch_precision.NAMES else NotImplemented
            if result is NotImplemented:
                result = function(*arguments, **options)
            if "device" not in options and isinstance(result, (torch.Tensor, tuple, list)) and function not in _LEAVES:
                if any_marked(arguments) or (options and any_marked(options.values())):
                    mark(result)
            return result

    _LEAVES.update((base.to, base.cpu))
    Marks().__enter__()
    _generators(torch, is_gpu)
    _modules(torch, is_gpu)


# Operations whose result lies where they were told.
_LEAVES = set()


def _plain(torch, method):
    def call(tensor):
        with torch._C.DisableTorchFunction():
            return method(tensor)

    return call


def _generators(torch, is_gpu):
    """Random numbers for the GPU are the CPU's."""
    original = torch.Generator

    class Generator(original):
        def __new__(cls, device="cpu"):
            return original.__new__(cls, "cpu" if is_gpu(device) else device)

    Generator.__name__ = Generator.__qualname__ = "Generator"
    torch.Generator = Generator


def _modules(torch, is_gpu):
    """`module.cuda()` and `module.to("cuda")` move parameters one by one, through `Tensor.to`."""
    module = torch.nn.Module

    def put(self, device):
        return self._apply(lambda tensor: tensor.to(device))

    original = module.to

    def to(self, *arguments, **options):
        device = options.get("device", arguments[0] if arguments else None)
        if not isinstance(device, (str, int, torch.device)) or not is_gpu(device):
            return original(self, *arguments, **options)
        rest = {key: value for key, value in options.items() if key != "device"}
        if arguments[1:] or rest:
            original(self, *(arguments[1:] if "device" not in options else arguments), **rest)
        return put(self, device)

    module.to = to
    module.cuda = lambda self, device=None: put(self, "cuda")
    module.cpu = lambda self: put(self, "cpu")
