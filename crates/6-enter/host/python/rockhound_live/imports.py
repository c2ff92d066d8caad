"""Changes modules right after the program imports them.

The one idea to keep in mind: a module that is never imported costs nothing, so programs without Triton and torch start as before.
"""

import importlib
import sys

# Module of the program, module here whose `install` gets it.
HOOKS = {
    "torch": ("torch_cuda", "install"),
    "torch.utils.cpp_extension": ("torch_cuda", "no_extensions"),
    "triton.backends.amd.compiler": ("memory", "know_ranges"),
    "triton.backends.amd.driver": ("triton_driver", "install"),
    "triton.backends.nvidia.driver": ("triton_driver", "deactivate"),
    "triton.runtime.jit": ("memory", "accept_arrays"),
    "triton.runtime.autotuner": ("timing", "install_autotuner"),
    "triton.testing": ("timing", "install_testing"),
}


class _Finder:
    """Finds the watched modules as Python does, and adds what is done after they ran."""

    def __init__(self):
        self.searching = set()

    def find_spec(self, name, path=None, target=None):
        if name not in HOOKS or name in self.searching:
            return None
        self.searching.add(name)
        try:
            others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
            spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        finally:
            self.searching.discard(name)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module
        own, function = HOOKS[name]

        def exec_module(module):
            execute(module)
            getattr(importlib.import_module(f"{__package__}.{own}"), function)(module)

        spec.loader.exec_module = exec_module
        return spec


def watch():
    """Watches for the modules from now on."""
    sys.meta_path.insert(0, _Finder())
