"""The emulated GPU as Triton sees it.

The one idea to keep in mind: it takes the place of the driver for AMD GPUs, under its name, in the module where Triton looks for it.
"""

import ctypes

from . import hip, launch, timing


class Utilities:
    """What Triton asks about kernels and devices."""

    def load_binary(self, name, kernel, shared, device):
        """Module, function, registers, words of scratch memory, most work-items."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        hip.call("hipModuleLoadData", ctypes.byref(module), kernel)
        hip.call("hipModuleGetFunction", ctypes.byref(function), module, name.encode())

        def attribute(number):
            value = ctypes.c_int()
            hip.call("hipFuncGetAttribute", ctypes.byref(value), ctypes.c_int(number), function)
            return value.value

        numbers = (attribute(hip.NUM_REGS), attribute(hip.LOCAL_SIZE_BYTES) // 4, attribute(hip.MAX_THREADS_PER_BLOCK))
        return module.value, function.value, *numbers

    def unload_module(self, module):
        """The kernel is not needed any more."""
        hip.library().hipModuleUnload(ctypes.c_void_p(module))

    def get_device_properties(self, device):
        """Facts by Triton's names."""
        facts = hip.properties(device)
        return {
            "max_shared_mem": facts["sharedMemPerBlock"],
            "max_num_regs": facts["regsPerBlock"],
            "multiprocessor_count": facts["multiProcessorCount"],
            "sm_clock_rate": facts["clockRate"],
            "mem_clock_rate": facts["memoryClockRate"],
            "mem_bus_width": facts["memoryBusWidth"],
            "arch": facts["gcnArchName"],
            "warpSize": facts["warpSize"],
            "max_threads_per_sm": facts["maxThreadsPerMultiProcessor"],
            "cooperativeLaunch": 1,
        }

    def create_tdm_descriptor(self, *_):
        """These GPUs have no such unit."""
        raise NotImplementedError("descriptors of the tensor data mover are for other GPUs than this one")


class _Cache:
    """What benchmarks overwrite between launches."""

    def zero_(self):
        hip.call("rockhoundEmptyCaches")
        return self


def install(module):
    """Puts the driver where Triton's own was."""

    class HIPDriver(module.HIPDriver):
        """Rockhound's emulated GPU."""

        def __init__(self):
            # Not that of the classes above: they ask torch, and compile C.
            self.utils = Utilities()
            self.launcher_cls = launch.Launcher
            self.get_device_capability = lambda device=None: tuple(hip.properties(device or 0)[each] for each in ("major", "minor"))
            self.get_current_stream = lambda device=None: 0
            self.get_current_device = hip.current_device
            self.set_current_device = hip.set_device

        @staticmethod
        def is_active():
            return True

        def get_device_interface(self):
            try:
                import torch
            except ImportError:
                return timing.Interface
            return torch.cuda

        def get_benchmarker(self):
            return timing.do_bench

        def get_empty_cache_for_benchmark(self):
            # Benchmarks overwrite it to empty the caches.
            return _Cache()

        def clear_cache(self, cache):
            hip.call("rockhoundEmptyCaches")

    HIPDriver.__module__ = module.__name__
    module.HIPDriver = HIPDriver


def deactivate(module):
    """The GPU of this run is AMD's."""
    module.CudaDriver.is_active = staticmethod(lambda: False)
