"""What a Python program runs first under `rockhound run` and `rockhound profile`.

The one idea to keep in mind: the program and its installation stay as they are; Triton and torch are changed in memory, right after the
program imports them, and a `sitecustomize` of the installation still runs.
"""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _begin():
    """Watches for imports of Triton and torch."""
    sys.path.insert(0, _here)
    try:
        from rockhound_live import imports, libraries, presence

        libraries.give_way()
        presence.show()
        imports.watch()
    finally:
        # The program sees the path that it would have had.
        sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _here]


def _go_on():
    """Runs the `sitecustomize` that this one hides."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_begin()
_go_on()
