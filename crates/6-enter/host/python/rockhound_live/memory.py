"""Makes memory of tensors and arrays known to the HIP library.

The one idea to keep in mind: the library gives each storage an address on the GPU, with room behind it, so that an access past the end of a tensor never
lands in another one, and caches behave the same in every run. The address stays as long as the storage.
"""

import ctypes
import threading
import weakref

from . import hip, notes


class Region:
    """Memory of the host that the GPU knows."""

    def __init__(self, host, size, name, is_unwritten=False):
        self.host, self.size = host, size
        base = ctypes.c_size_t()
        hip.call("rockhoundMap", ctypes.c_size_t(host), ctypes.c_size_t(size), name.encode(), ctypes.c_int(is_unwritten), ctypes.byref(base))
        self.base = base.value

    def unmap(self):
        """The memory is gone."""
        hip.library().rockhoundUnmap(ctypes.c_size_t(self.base))


# The program has put something on the GPU, so what it gives to kernels has to be there.
gpu_is_used = False

# Arrays of NumPy, by the identity of the one that owns the memory.
_arrays = {}


def _unmap(region):
    region.unmap()


def of_storage(tensor, name):
    """The address on the GPU of a tensor of torch; `name` is what messages call it."""
    storage = tensor.untyped_storage()
    host, size = storage.data_ptr(), storage.nbytes()
    if size == 0:
        return 0
    region = getattr(storage, "_rockhound_region", None)
    if region is None or (region.host, region.size) != (host, size):
        if region is not None:
            storage._rockhound_finalizer()
        region = storage._rockhound_region = Region(host, size, name, getattr(storage, "_rockhound_unwritten", None) == host)
        storage._rockhound_finalizer = weakref.finalize(storage, _unmap, region)
        storage._rockhound_finalizer.atexit = False
    return region.base + type(tensor)._rockhound_host_pointer(tensor) - host


def begin_unwritten(storage):
    """Fills new memory so that `--check uninit` finds kernels that read what nothing has written."""
    host, size = storage.data_ptr(), storage.nbytes()
    if size:
        hip.call("rockhoundUnwritten", ctypes.c_size_t(host), ctypes.c_size_t(size))
        storage._rockhound_unwritten = host


class Array:
    """An array of NumPy as an argument of Triton: it wants `dtype` and `data_ptr`."""

    def __init__(self, array):
        import triton.language as language

        self.array = array
        name = array.dtype.name
        if name.startswith(("int", "uint")):
            dtype = getattr(language, name)
        else:
            dtype = {
                "float16": language.float16,
                "float32": language.float32,
                "float64": language.float64,
                "bool": language.int1,
                "bfloat16": language.bfloat16,
                "float8_e4m3fn": language.float8e4nv,
                "float8_e5m2": language.float8e5,
            }.get(name)
        if dtype is None:
            raise TypeError(f"Triton has no type for an array of `{array.dtype}`")
        self.dtype, self.shape = dtype, array.shape
        self.itemsize = array.itemsize

    def data_ptr(self):
        """The address on the GPU."""
        return of_array(self.array, "array")

    def ptr_range(self):
        """Bytes of the memory, by which Triton chooses buffer loads."""
        return _owner(self.array).nbytes

    def stride(self):
        """Elements from one index to the next, as tensors say it."""
        return tuple(each // self.array.itemsize for each in self.array.strides)

    def __getattr__(self, name):
        return getattr(self.array, name)


def _owner(array):
    """The array whose memory this is a part of."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "__array_interface__"):
        array = array.base
    return array


def of_array(array, name):
    """The address on the GPU of an array of NumPy."""
    owner = _owner(array)
    host, size = owner.__array_interface__["data"][0], owner.nbytes
    if size == 0:
        return 0
    known = _arrays.get(id(owner))
    if known is None or known[0]() is not owner or (known[1].host, known[1].size) != (host, size):
        region, key = Region(host, size, name), id(owner)

        def gone(_):
            _arrays.pop(key, None)
            region.unmap()

        known = _arrays[key] = (weakref.ref(owner, gone), region)
    return known[1].base + array.__array_interface__["data"][0] - host


def accept_arrays(jit):
    """Kernels take arrays of NumPy from now on, and memory is called by the argument that it is first given for."""
    run = jit.JITFunction.run

    def known(kernel, name, value):
        described = notes.describe(value)
        if type(value).__module__ == "numpy" and type(value).__name__ == "ndarray":
            value = Array(value)
        if isinstance(value, Array) or is_tensor(value):
            address(value, f"{described} (first as {name} of {kernel.__name__})")
        return value

    def run_with_arrays(self, *arguments, **options):
        names = list(self.arg_names) + [""] * len(arguments)
        arguments = [known(self, name, value) for name, value in zip(names, arguments)]
        options = {name: known(self, name, value) for name, value in options.items()}
        return run(self, *arguments, **options)

    jit.JITFunction.run = run_with_arrays


def know_ranges(compiler):
    """Arrays say how long they are; Triton would import torch to find that they are no tensors."""
    original = compiler.HIPBackend.is_within_2gb

    def is_within_2gb(value):
        return value.ptr_range() <= 2**31 - 1 if isinstance(value, Array) else original(value)

    compiler.HIPBackend.is_within_2gb = staticmethod(is_within_2gb)


def is_tensor(value):
    """Whether a value is a tensor of torch; others that have a storage pass on to one."""
    return hasattr(type(value), "_rockhound_host_pointer")


def is_only_on_cpu(value):
    """Whether the program made a tensor on the CPU while it uses the GPU too."""
    if not gpu_is_used or not is_tensor(value):
        return False
    import torch

    if torch._C._current_graph_task_id() >= 0 and not gradients.are_on_gpu:
        # Gradients have no mark, nor has what is made after them.
        return False
    storage = value.untyped_storage()
    return getattr(storage, "_rockhound_gpu", None) is False and not getattr(storage, "_rockhound_pinned", False)


class _Gradients(threading.local):
    """The device of tensors without a mark while a thread computes gradients: gradients of results on the GPU are there too."""

    are_on_gpu = False


gradients = _Gradients()


def address(value, name):
    """The address on the GPU of what a program gives for a pointer; None for what is no memory."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if isinstance(value, Array):
        return of_array(value.array, name)
    if is_tensor(value):
        return of_storage(value, name)
    # `triton.reinterpret` of a tensor.
    base = getattr(value, "base", None)
    if base is not None and is_tensor(base):
        return of_storage(base, name)
    return value.data_ptr() if hasattr(value, "data_ptr") else None
