"""Operations that the program defines, or replaces, with `torch.library`.

The one idea to keep in mind: for torch, tensors on the GPU are the CPU's, so one kernel of the CPU takes both, and looks at the tensors to choose
between those that the program gave. torch's own kernels of the CPU stay; a mode calls the program's instead where tensors are on the GPU.
"""

import functools
import importlib
import weakref

from . import hip

# Keys of the GPU, and the keys that tensors in the CPU's memory have.
_KEYS = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU"}
# Keys of kernels for every device.
_ANY = ("", "CompositeExplicitAutograd", "CompositeImplicitAutograd")


def install(torch, any_marked, marks):
    """Kernels for the GPU are called for tensors on it, and what they make of such tensors is on the GPU too."""
    library = torch.library.Library
    create, impl = library.__init__, library.impl
    given = {}
    replaced = _replaced(torch, any_marked)

    def with_marks(function):
        @functools.wraps(function)
        def call(*arguments, **options):
            if torch._C._len_torch_function_stack() > 0:
                return function(*arguments, **options)
            with marks():
                return function(*arguments, **options)

        return call

    @functools.wraps(create)
    def create_for_both(self, ns, kind, dispatch_key=""):
        self._rockhound_key = dispatch_key
        create(self, ns, kind, "" if dispatch_key in _KEYS else dispatch_key)

    @functools.wraps(impl)
    def impl_for_both(self, op_name, fn, dispatch_key="", **options):
        key = dispatch_key or getattr(self, "_rockhound_key", self.dispatch_key)
        ours = _KEYS.get(key, key)
        if self.ns == "aten" and key in _KEYS:
            replaced.add(self, key, _full_name("aten", op_name), with_marks(fn))
            return None
        is_ordinary = self.ns != "aten" and fn is not torch.library.fallthrough_kernel
        if not is_ordinary or ours not in (*_KEYS.values(), *_ANY):
            return impl(self, op_name, fn, ours if key in _KEYS else dispatch_key, **options)
        # torch has taken off the mode that marks results while it asked the mode about the operation.
        operation = given.setdefault(_full_name(self.ns, op_name), _Operation(any_marked))
        fn = with_marks(fn)
        has_kernel = operation.add(self, key, fn)
        if key in _ANY:
            return impl(self, op_name, fn, dispatch_key, **options)
        return None if has_kernel else impl(self, op_name, functools.partial(operation.call, ours), ours, **options)

    library.__init__, library.impl = create_for_both, impl_for_both
    return replaced


def _full_name(ns, op_name):
    if not isinstance(op_name, str):
        op_name = f"{op_name._schema.name}.{op_name._schema.overload_name}".rstrip(".")
    return f"{ns}::{op_name.split('::')[-1]}"


def _replaced(torch, any_marked):
    """The mode in which operations of torch on tensors of the GPU are the program's; to be entered where it `is_wanted`."""
    # Programs need not have imported it.
    modes = importlib.import_module("torch.utils._python_dispatch")
    names = {}

    def name_of(operation):
        if operation not in names:
            names[operation] = _full_name("aten", operation)
        return names[operation]

    class Replaced(modes.TorchDispatchMode):
        kernels = {}

        @classmethod
        def add(cls, library, key, name, function):
            has_parts = torch._C._dispatch_has_kernel(name) and torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")
            if key != "CUDA" or has_parts:
                hip.say_once("kernels of the program for operations of torch that consist of others (`aten::conv2d` and the like) are not used: the others run")
            else:
                cls.kernels[name] = (weakref.ref(library), function)

        @classmethod
        def is_wanted(cls):
            return any(_lives(library) for library, _ in cls.kernels.values())

        def __torch_dispatch__(self, operation, types, arguments=(), options=None):
            options = options or {}
            library, function = self.kernels.get(name_of(operation), (None, None))
            if function and _lives(library) and (any_marked(arguments) or any_marked(options.values())):
                return function(*arguments, **options)
            return operation(*arguments, **options)

    return Replaced


class _Operation:
    """What the program gave for one operation."""

    def __init__(self, any_marked):
        self.any_marked = any_marked
        # By key: the library that registered it, which may be gone, and the function.
        self.kernels = {}
        # By key of the CPU: the library that holds the kernel which chooses.
        self.holders = {}

    def add(self, library, key, function):
        """Whether the kernel that chooses is registered already; torch refuses the same key twice."""
        is_second = key in self.kernels and _lives(self.kernels[key][0])
        self.kernels[key] = (weakref.ref(library), function)
        ours = _KEYS.get(key, key)
        has_kernel = ours in self.holders and _lives(self.holders[ours]) and not is_second
        if not has_kernel:
            self.holders[ours] = weakref.ref(library)
        return has_kernel

    def call(self, ours, *arguments, **options):
        is_gpu = self.any_marked(arguments) or self.any_marked(options.values())
        gpu = next(it for it, cpu in _KEYS.items() if cpu == ours)
        order = (gpu, ours) if is_gpu else (ours, gpu)
        if ours == "CPU":
            order = (order[0], *_ANY, order[1])
        function = next(self.kernels[it][1] for it in order if it in self.kernels and _lives(self.kernels[it][0]))
        return function(*arguments, **options)


def _lives(library):
    library = library()
    return library is not None and library.m is not None
