"""Starts kernels.

The one idea to keep in mind: Triton's own launcher is compiled with a C compiler for each signature; this one hands the same arguments over
through `ctypes`, so neither a compiler nor Python's headers are needed, and every pointer is known before the kernel runs.
"""

import ctypes
import re
import struct

from . import hip, memory, notes

_FLOATS = {"fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"}


def _bits(value, kind):
    """A number as the eight bytes of which the kernel reads as many as its type has."""
    if kind == "bf16":
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        # Round to nearest, ties to even, as Triton does.
        return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    if kind in _FLOATS:
        form = _FLOATS[kind]
        raw = struct.pack(f"<{form}", value)
        return int.from_bytes(raw, "little")
    return int(value) & 0xFFFF_FFFF_FFFF_FFFF


def _descriptor(kind, value):
    """What a tensor descriptor is to the kernel: types and values."""
    element = re.match(r"tensordesc(?:_im2col)?<([^[>]*)\[", kind).group(1)
    flags = [value.padding == "nan"] if hasattr(value, "padding") else []
    if hasattr(value, "round_f32_to_tf32"):
        flags.append(value.round_f32_to_tf32)
    shape, strides = list(value.shape), list(value.strides)
    kinds = ["*" + element] + ["i64"] * (len(shape) + len(strides)) + ["i1"] * len(flags)
    kinds += ["i32"] * len(shape) + ["i64"] * len(strides)
    return kinds, [value.base, *shape, *strides, *flags, *shape, *strides]


class Launcher:
    """Starts one compiled kernel; Triton makes it with the kernel's source and metadata."""

    def __init__(self, src, metadata):
        self.signature = list(src.signature.values())
        function = getattr(src, "fn", None)
        self.names = list(getattr(function, "arg_names", [])) or [str(each) for each in src.signature]
        self.kernel = getattr(metadata, "name", "kernel")
        self.metadata = metadata
        self.wave = getattr(metadata, "warp_size", 64)
        self.note = notes.of_kernel(src, metadata)

    def __call__(self, grid_x, grid_y, grid_z, stream, function, packed, launch_metadata, enter, leave, *arguments):
        if grid_x * grid_y * grid_z == 0:
            return
        if enter is not None:
            enter(launch_metadata)
        if getattr(self.metadata, "num_ctas", 1) > 1:
            raise NotImplementedError(f"kernel `{self.kernel}`: `num_ctas` above 1 needs clusters, which these GPUs do not have")
        values = []
        for name, kind, value in zip(self.names, self.signature, arguments):
            self._add(values, name, kind, value)
        # Scratch memory for the whole grid and for profiling.
        scratch = [self._scratch(what, grid_x * grid_y * grid_z, stream) for what in ("global", "profile")]
        values += [address for address, _ in scratch]
        slots = (ctypes.c_uint64 * len(values))(*values)
        first = ctypes.addressof(slots)
        pointers = (ctypes.c_void_p * len(values))(*(first + 8 * index for index in range(len(values))))
        notes.before_launch(self, arguments, (grid_x, grid_y, grid_z))
        name = "hipModuleLaunchCooperativeKernel" if self.metadata.launch_cooperative_grid else "hipModuleLaunchKernel"
        sizes = [ctypes.c_uint(each) for each in (grid_x, grid_y, grid_z, self.wave * self.metadata.num_warps, 1, 1)]
        shared = ctypes.c_uint(self.metadata.shared)
        tail = [pointers] if name == "hipModuleLaunchCooperativeKernel" else [pointers, None]
        hip.call(name, ctypes.c_void_p(function), *sizes, shared, ctypes.c_void_p(stream), *tail)
        if leave is not None:
            leave(launch_metadata)

    def _add(self, values, name, kind, value):
        if isinstance(kind, tuple):
            for index, (each_kind, each) in enumerate(zip(kind, value)):
                self._add(values, f"{name}[{index}]", each_kind, each)
        elif kind == "constexpr":
            return
        elif kind.startswith("tensordesc"):
            for each_kind, each in zip(*_descriptor(kind, value)):
                self._add(values, name, each_kind, each)
        elif kind.startswith("*"):
            values.append(self._pointer(name, value))
        else:
            values.append(_bits(value, kind))

    def _pointer(self, name, value):
        if memory.is_only_on_cpu(value):
            raise ValueError(
                f"Pointer argument `{name}` of `{self.kernel}` cannot be accessed from Triton (cpu tensor?): the program has tensors on the GPU, "
                "and this one is on the CPU"
            )
        address = memory.address(value, f"{notes.describe(value)} (first as {name} of {self.kernel})")
        if address is None:
            raise TypeError(f"`{name}` of `{self.kernel}` is a pointer, and a {type(value).__name__} is none")
        return address

    def _scratch(self, what, programs, stream):
        size = getattr(self.metadata, f"{what}_scratch_size", 0) * programs
        if not size:
            return 0, None
        from triton.runtime import _allocation

        allocator = _allocation._allocator if what == "global" else _allocation._profile_allocator
        alignment = getattr(self.metadata, f"{what}_scratch_align", 1)
        block = allocator.get()(size, alignment, stream)
        return memory.address(block, f"{what} scratch memory of {self.kernel}"), block
