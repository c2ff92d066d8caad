"""Changes modules right after the program imports them.

The one idea to keep in mind: a module that is never imported costs nothing, so programs without Triton and torch start as before.
"""

import contextlib
import importlib
import os
import sys

# Module of the program, modules here with the function that gets it. The second list is for a GPU of the machine.
HOOKS = {
    "torch": [("torch_cuda", "install")],
    "torch.utils.cpp_extension": [("torch_cuda", "no_extensions")],
    "triton.backends.amd.compiler": [("memory", "know_ranges")],
    "triton.backends.amd.driver": [("triton_driver", "install")],
    "triton.backends.nvidia.driver": [("triton_driver", "deactivate")],
    "triton.runtime.jit": [("memory", "accept_arrays")],
    "triton.runtime.autotuner": [("timing", "install_autotuner"), ("tune", "install")],
    "triton.testing": [("timing", "install_testing")],
}
HOOKS_ON_GPU = {"triton.runtime.autotuner": [("tune", "install")]}


class _Finder:
    """Finds the watched modules as Python does, and adds what is done after they ran."""

    def __init__(self, hooks):
        self.hooks = hooks
        self.searching = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks or name in self.searching:
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
        hooks = self.hooks[name]

        def exec_module(module):
            execute(module)
            for own, function in hooks:
                getattr(importlib.import_module(f"{__package__}.{own}"), function)(module)

        spec.loader.exec_module = exec_module
        return spec


def _tell():
    """Tells the command that this program is one of Python, which may launch nothing."""
    folder = os.environ.get("ROCKHOUND_SESSION")
    if folder:
        with contextlib.suppress(OSError), open(os.path.join(folder, "python-began"), "w", encoding="ascii"):
            pass


def watch():
    """Watches for the modules from now on."""
    _tell()
    sys.meta_path.insert(0, _Finder(HOOKS if "TRITON_LIBHIP_PATH" in os.environ and "ROCKHOUND_SESSION" in os.environ else HOOKS_ON_GPU))
