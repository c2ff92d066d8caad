"""Tensors of torch that the program has on the GPU.

The one idea to keep in mind: their memory is the CPU's; a mark at the storage says that the program put it on the GPU, and results of operations on
marked tensors are marked. Operations of torch itself run on the CPU.
"""

import functools
import importlib
import threading

from . import hip, memory, results, torch_gradients, torch_library, torch_precision

_FACTORIES = (
    "arange as_tensor asarray empty empty_like empty_permuted empty_strided eye full full_like hann_window linspace logspace normal ones ones_like "
    "rand rand_like randint randint_like randn randn_like randperm scalar_tensor tensor tril_indices triu_indices zeros zeros_like"
)
# Operations whose tensors lie on one device; a tensor without dimensions is a number.
_TOGETHER = frozenset(
    "add sub mul div true_divide matmul mm bmm addmm baddbmm linear cat stack where maximum minimum pow eq ne lt le gt ge "
    "__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __matmul__ __rmatmul__".split()
)
_NEW = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"
# Factories of tensors that hold whatever was there.
_UNWRITTEN = frozenset("empty empty_like empty_permuted empty_strided new_empty new_empty_strided".split())


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
        kind, _, number = (f"cuda:{device}" if isinstance(device, int) else str(device)).partition(":")
        if kind not in ("cuda", "hip"):
            return False
        if number and int(number) >= hip.device_count():
            raise RuntimeError(f"CUDA error: invalid device ordinal: `{kind}:{number}`, and this run has {hip.device_count()} (`--devices`)")
        return True

    def storage_of(tensor):
        try:
            with disabled():
                return base.untyped_storage(tensor)
        except (RuntimeError, NotImplementedError):
            # Sparse and symbolic tensors.
            return None

    def stated(tensor):
        """True on the GPU, False where the program made it on the CPU, None where it has no mark."""
        return getattr(storage_of(tensor), "_rockhound_gpu", None)

    def place(tensor):
        """The same; without a mark it is the place of the gradients that are computed, or not known."""
        where = stated(tensor)
        return True if where is None and memory.gradients.are_on_gpu else where

    def is_marked(tensor):
        return place(tensor) is True

    def mark(value, where=True):
        if isinstance(value, torch.Tensor):
            memory.gpu_is_used |= where
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

    is_watched = "uninit" in hip.session()["check"]

    def factory(function):
        @functools.wraps(function)
        def create(*arguments, **options):
            device = options.get("device")
            if device is not None:
                options["device"] = "cpu" if is_gpu(device) else device
            is_pinned = bool(options.get("pin_memory"))
            if is_pinned:
                options["pin_memory"] = False
            result = function(*arguments, **options)
            if is_pinned:
                return pin(result)
            result = placed(result, device, arguments[0] if arguments else None)
            if is_watched and function.__name__ in _UNWRITTEN and stated(result):
                memory.begin_unwritten(storage_of(result))
            return result

        def placed(result, device, model):
            if device is None:
                # A tensor like another one has the device of that one, which is not always known of gradients.
                where = place(model) if isinstance(model, torch.Tensor) else False
                return result if where is None or stated(result) is not None else mark(result, where)
            where = is_gpu(device)
            if function.__name__ in ("as_tensor", "asarray") and is_marked(result) != where:
                # It may be the memory of what it was made from.
                result = result.clone()
            # Where the place of gradients is not known, `device=gradient.device` says the CPU.
            is_told = where or memory.gradients.are_on_gpu or torch._C._current_graph_task_id() < 0
            return mark(result, where) if is_told else result

        return create

    for name in _FACTORIES.split():
        if hasattr(torch, name):
            setattr(torch, name, factory(getattr(torch, name)))
    for name in _NEW.split():
        setattr(tensor_type, name, factory(getattr(tensor_type, name)))

    def pin(tensor):
        """Memory of the host that the GPU reaches too."""
        storage = storage_of(tensor)
        if storage is not None:
            storage._rockhound_pinned = True
        return tensor

    def moved(tensor, where, result):
        """A copy where the tensor changes its place."""
        if is_marked(tensor) == where:
            return result
        if storage_of(result) is storage_of(tensor):
            result = result.clone()
        if not where and results.are_kept and is_marked(tensor):
            results.keep(result)
        return mark(result, where)

    original_to, inner = tensor_type.to, threading.local()

    def to(self, *arguments, **options):
        """torch's own, for which modes find the method of the class again."""
        inner.is_active = True
        try:
            return original_to(self, *arguments, **options)
        finally:
            inner.is_active = False

    def to_device(self, *arguments, **options):
        if getattr(inner, "is_active", False):
            return original_to(self, *arguments, **options)
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
    tensor_type.pin_memory = lambda self, device=None: pin(self)
    tensor_type.is_pinned = lambda self, device=None: getattr(storage_of(self), "_rockhound_pinned", False)
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

    def refused(method):
        @functools.wraps(method)
        def to_host(self, *arguments, **options):
            if is_marked(self):
                raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
            return method(self, *arguments, **options)

        return to_host

    for name in ("numpy", "__array__"):
        setattr(tensor_type, name, refused(getattr(tensor_type, name)))

    kind_of = tensor_type.type

    def type_of(self, dtype=None, *arguments, **options):
        if dtype is None:
            name = kind_of(self)
            return "torch.cuda." + name.removeprefix("torch.").removeprefix("cuda.") if is_marked(self) else name
        if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
            return moved(self, True, kind_of(self, dtype.replace("torch.cuda.", "torch.", 1), *arguments, **options))
        return kind_of(self, dtype, *arguments, **options)

    tensor_type.type = type_of
    _from_numpy = torch.from_numpy
    torch.from_numpy = functools.wraps(_from_numpy)(lambda array: mark(_from_numpy(array), False))
    follow = functools.partial(_follow, any_marked=any_marked, mark=mark)
    for owner, names in ((torch, "vmap from_dlpack"), (torch.utils.dlpack, "from_dlpack"), (torch.func, "vmap grad grad_and_value jvp vjp jacrev jacfwd")):
        for name in names.split():
            if hasattr(owner, name):
                setattr(owner, name, follow(getattr(owner, name)))

    def check_together(function, arguments):
        values = [it for each in arguments for it in (each if isinstance(each, (tuple, list)) else (each,))]
        places = {stated(it) for it in values if isinstance(it, torch.Tensor) and it.dim() > 0}
        if True in places and False in places:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (in `{function.__name__}`)"
            )

    precise = torch_precision.install(torch)

    class Marks(torch.overrides.TorchFunctionMode):
        """Marks results of operations on marked tensors."""

        def __torch_function__(self, function, types, arguments=(), options=None):
            options = options or {}
            if is_gpu(options.get("device")):
                # From `torch.set_default_device` and `with torch.device(..)`.
                return mark(function(*arguments, **{**options, "device": "cpu"}))
            if function.__name__ in _TOGETHER and memory.gpu_is_used:
                check_together(function, arguments)
            result = computed(function, arguments, options)
            if "device" not in options and isinstance(result, (torch.Tensor, tuple, list)) and function not in _LEAVES:
                if any_marked(arguments) or (options and any_marked(options.values())):
                    mark(result)
            return result

    replaced = torch_library.install(torch, any_marked, Marks)

    def computed(function, arguments, options):
        if replaced.is_wanted():
            with replaced():
                return function(*arguments, **options)
        result = precise(function, arguments, options, any_marked) if function.__name__ in torch_precision.NAMES else NotImplemented
        return function(*arguments, **options) if result is NotImplemented else result

    _LEAVES.update((base.to, base.cpu))
    Marks().__enter__()
    torch_gradients.install(torch, is_marked)
    results.install(torch, is_marked)
    _default_device(torch, is_gpu)
    _generators(torch, is_gpu)
    _modules(torch, is_gpu)


# Operations whose result lies where they were told.
_LEAVES = set()


def _plain(torch, method):
    def call(tensor):
        with torch._C.DisableTorchFunction():
            return method(tensor)

    return call


def _follow(function, any_marked, mark):
    """A function whose results, or the results of what it returns, lie where its arguments do."""

    @functools.wraps(function)
    def call(*arguments, **options):
        result = function(*arguments, **options)
        if callable(result) and not hasattr(result, "untyped_storage"):
            return _follow(result, any_marked, mark)
        return mark(result) if any_marked(arguments) else result

    return call


def _default_device(torch, is_gpu):
    """`torch.set_default_device("cuda")` is `with torch.device("cuda")` that does not end."""
    original, state = torch.set_default_device, {}

    def set_default_device(device):
        if state:
            state.pop("context").__exit__(None, None, None)
        if device is not None and is_gpu(device):
            original(None)
            state["context"] = torch.device("cuda")
            state["context"].__enter__()
        else:
            original(device)

    torch.set_default_device = set_default_device


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
