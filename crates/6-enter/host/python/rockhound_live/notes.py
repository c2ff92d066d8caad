"""What the program launches, in the program's own terms: configuration, shapes, strides.

The one idea to keep in mind: the library keeps the note of a launch with its dispatch, so the recording knows what Triton knew.
"""

import json

from . import hip

# The run of the autotuner that launches now: its key as text.
tuning = None


def describe(value):
    """Type and shape of an argument, for people."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return type(value).__name__
    name = str(dtype).replace("torch.", "")
    shape = getattr(value, "shape", None)
    return f"{name} [{', '.join(str(each) for each in shape)}]" if shape is not None else name


def of_kernel(src, metadata):
    """What is the same in every launch of a compiled kernel."""
    function = getattr(src, "fn", None)
    constants = {}
    for parameter in getattr(function, "params", []):
        value = src.constants.get((parameter.num,), None) if hasattr(src, "constants") else None
        if parameter.is_constexpr and _is_plain(value):
            constants[parameter.name] = value
    for key in ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack"):
        value = getattr(metadata, key, None)
        # Zero leaves the choice to the compiler, and 1 is what `kpack` is anyway.
        if key.startswith("num_") or value and (key != "kpack" or value > 1):
            constants[key] = value
    python = getattr(function, "fn", None)
    code = getattr(python, "__code__", None)
    return {
        "kernel": getattr(metadata, "name", "kernel"),
        "file": getattr(code, "co_filename", ""),
        "line": getattr(code, "co_firstlineno", 0),
        "configuration": [[name, value] for name, value in constants.items()],
        "compiled": _folder(getattr(metadata, "hash", None)),
    }


def _folder(key):
    """Where Triton keeps what it compiled, IR and code; empty where it keeps nothing."""
    try:
        from triton.runtime.cache import get_cache_manager

        return getattr(get_cache_manager(key), "cache_dir", None) or "" if key else ""
    except Exception:  # noqa: BLE001: other managers of the cache may do anything
        return ""


def _is_plain(value):
    return isinstance(value, (bool, int, float, str)) or value is None


def before_launch(launcher, arguments, grid):
    """Tells the library about the launch that follows."""
    described = []
    for name, kind, value in zip(launcher.names, launcher.signature, arguments):
        if any(name == known for known, _ in launcher.note["configuration"]):
            continue
        argument = {"name": name, "type": kind if isinstance(kind, str) else "tuple"}
        if hasattr(value, "shape"):
            argument["dtype"] = str(getattr(value, "dtype", ""))
            argument["shape"] = [int(each) for each in value.shape]
            strides = value.stride() if callable(getattr(value, "stride", None)) else getattr(value, "strides", ())
            argument["strides"] = [int(each) for each in strides]
        elif _is_plain(value):
            argument["value"] = value
        described.append(argument)
    note = {**launcher.note, "programs": list(grid), "arguments": described}
    if tuning is not None:
        note["tuning"] = tuning
    hip.call("rockhoundDescribe", json.dumps(note).encode())


def configuration_failed(kernel, configuration, reason):
    """A configuration that the autotuner tried cannot be launched."""
    note = {"kernel": kernel, "configuration": [[name, value] for name, value in configuration.items()], "tuning": tuning, "failed": reason}
    hip.call("rockhoundFailed", json.dumps(note).encode())
