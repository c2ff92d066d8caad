"""Compiles a kernel of Triton for `rockhound tune`, without a GPU.

The one argument is a file with the request; `answer` in it names the file for what was found. Triton's own code decides which argument is
specialised for what (a number that 16 divides, a 1), because the kernel is called as a program calls it, with `warmup`: compiled and not launched.
A message on standard error and exit code 1 say what is wrong.
"""

import importlib.util
import json
import os
import sys


class Buffer:
    """A tensor as far as the compiler sees it: its type, place and size."""

    def __init__(self, dtype, size):
        self.dtype, self._size = dtype, size

    @staticmethod
    def data_ptr():
        """Buffers begin at multiples of at least 256 bytes."""
        return 0

    def ptr_range(self):
        """Bytes; with fewer than 2 GiB the code uses buffer instructions."""
        return self._size


def refuse(message):
    """Ends with one line."""
    print(message, file=sys.stderr)
    sys.exit(1)


def line_of(error):
    """An error in one line: the compiler's messages have the source first, and the reason at their end or in their cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}".rstrip(": ")


def choose_gpu(arch):
    """Makes the GPU of the request the one that Triton compiles for; returns the names of the options of its compiler."""
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend
        from triton.runtime.driver import driver
    except ImportError as error:
        refuse(f"`{sys.executable}` has no Triton that can compile ({error}): `pip install triton`, or name another Python with `python` in `[run.triton]`")

    target = GPUTarget("hip", arch, 64)

    class Driver:
        """A GPU that compiles and launches nothing."""

        def get_current_target(self):
            return target

        def get_current_device(self):
            return 0

        def set_current_device(self, device):
            pass

        def get_current_stream(self, device=None):
            return 0

        def get_active_torch_device(self):
            import torch

            return torch.device("cpu")

    driver.set_active(Driver())
    try:
        backend = make_backend(target)
    except Exception as error:  # noqa: BLE001: the message of Triton says which backends it has
        refuse(f"Triton {triton.__version__} does not compile for {arch}: {line_of(error)}")
    if hasattr(type(backend), "is_within_2gb"):
        # Triton's own imports torch first, which this needs not.
        type(backend).is_within_2gb = staticmethod(lambda it: it.ptr_range() < 2**31)
    return set(type(backend.parse_options({})).__dataclass_fields__)


def kernel_of(path, name):
    """The kernel of a script, below its decorators, and functions that fill in arguments (`@triton.heuristics`)."""
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # noqa: BLE001: a script may raise anything, and may exit
        refuse(f"`{path}` cannot be imported: {line_of(error)}")
    kernel = getattr(module, name, None)
    heuristics = {}
    while kernel is not None and type(kernel).__name__ != "JITFunction":
        values = getattr(kernel, "values", None)
        heuristics.update(values if isinstance(values, dict) else {})
        kernel = getattr(kernel, "fn", None)
    if kernel is None:
        known = sorted(each for each, value in vars(module).items() if hasattr(value, "cache_key") or type(value).__name__ in ("Autotuner", "Heuristics"))
        refuse(f"`{path}` has no kernel `{name}` with `@triton.jit`" + (f"; it has {', '.join(known)}" if known else ""))
    return kernel, heuristics


def check(request, kernel, heuristics, options):
    """Refuses names that are nothing to the kernel, and arguments without a value."""
    parameters = {each.name: each for each in kernel.params}
    for name in request["arguments"]:
        if name not in parameters:
            refuse(f"`{name}` of `[[argument]]` is not an argument of `{kernel.__name__}`, which has {', '.join(parameters)}")
    for name in request["needed"]:
        if name not in parameters and name not in options:
            refuse(f"parameter `{name}` is not an argument of `{kernel.__name__}`, not an option of Triton's compiler ({', '.join(sorted(options))}), and in no expression")
    given = {*request["arguments"], *request["values"], *heuristics}
    for name, parameter in parameters.items():
        if name not in given and not parameter.has_default:
            refuse(f"argument `{name}` of `{kernel.__name__}` has no value: give it in `[[argument]]`, `[parameters]` or `[[shapes]]`")


def compiled(build, kernel, heuristics, options):
    """Compiles; returns what a launch needs to know."""
    names = [each.name for each in kernel.params]
    values = {name: value for name, value in build["values"].items() if name in names or name in options}
    values.update((name, Buffer(each["type"], each["bytes"])) for name, each in build["buffers"].items())
    for name, function in heuristics.items():
        if name not in values:
            values[name] = function(dict(values))
    try:
        binary = kernel.run(grid=(1,), warmup=True, **values)
        binary = binary.result() if hasattr(binary, "result") else binary
    except Exception as error:  # noqa: BLE001: the compiler may raise anything
        refuse(line_of(error))
    with open(build["code"], "wb") as file:
        file.write(binary.asm["hsaco"])
    metadata = binary.metadata
    if getattr(metadata, "num_ctas", 1) > 1:
        refuse("`num_ctas` above 1 needs clusters, which these GPUs do not have")
    arguments = [[name, kind] for name, kind in binary.src.signature.items() if kind != "constexpr"]
    return {
        "name": metadata.name,
        "shared": metadata.shared,
        "threads": metadata.num_warps * getattr(metadata, "warp_size", 64),
        "arguments": [[name if isinstance(name, str) else names[name], kind] for name, kind in arguments],
        "values": {name: value for name, value in values.items() if isinstance(value, (bool, int, float))},
        "scratch": [getattr(metadata, f"{each}_scratch_size", 0) for each in ("global", "profile")],
    }


def main():
    with open(sys.argv[1]) as file:
        request = json.load(file)
    options = choose_gpu(request["arch"])
    kernel, heuristics = kernel_of(request["file"], request["kernel"])
    check(request, kernel, heuristics, options)
    answer = [compiled(each, kernel, heuristics, options) for each in request.get("builds", [])]
    with open(request["answer"], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
