"""Calls of Rockhound's HIP library.

The one idea to keep in mind: the library is loaded when it is first needed; an error of a call is an exception with the library's text.
"""

import ctypes
import functools
import json
import os
import sys

# Numbers of `hipFunction_attribute`.
MAX_THREADS_PER_BLOCK = 0
LOCAL_SIZE_BYTES = 3
NUM_REGS = 4

# Place and type of the fields of `hipDeviceProp_tR0600` that are used here.
_FIELDS = {
    "name": (0, "text"),
    "totalGlobalMem": (288, ctypes.c_size_t),
    "sharedMemPerBlock": (296, ctypes.c_size_t),
    "regsPerBlock": (304, ctypes.c_int),
    "warpSize": (308, ctypes.c_int),
    "clockRate": (348, ctypes.c_int),
    "major": (360, ctypes.c_int),
    "minor": (364, ctypes.c_int),
    "multiProcessorCount": (388, ctypes.c_int),
    "memoryClockRate": (608, ctypes.c_int),
    "memoryBusWidth": (612, ctypes.c_int),
    "l2CacheSize": (616, ctypes.c_int),
    "maxThreadsPerMultiProcessor": (624, ctypes.c_int),
    "gcnArchName": (1160, "text"),
}
_PROPERTIES_BYTES = 4096


# Longest message of a stopped kernel, with the zero behind it.
_MESSAGE_BYTES = 1 << 14


class Error(RuntimeError):
    """A call of the HIP library failed, or a kernel was stopped."""


@functools.lru_cache(maxsize=None)
def session():
    """Settings of this run."""
    with open(os.path.join(os.environ["ROCKHOUND_SESSION"], "session.json"), encoding="utf-8") as file:
        return json.load(file)


@functools.lru_cache(maxsize=None)
def library():
    """The library of this run."""
    loaded = ctypes.CDLL(os.environ["TRITON_LIBHIP_PATH"])
    loaded.hipGetErrorString.restype = ctypes.c_char_p
    # A stopped kernel is an exception; without this it would end the process.
    loaded.rockhoundFaults(1)
    return loaded


def call(name, *arguments):
    """Calls a function; what it returns must be success."""
    flush()
    code = getattr(library(), name)(*arguments)
    if code:
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        library().rockhoundTakeFault(message, ctypes.c_size_t(_MESSAGE_BYTES))
        if message.value:
            raise Error(message.value.decode(errors="replace"))
        text = library().hipGetErrorString(code)
        raise Error(f"{name}: {text.decode() if text else code}")


def flush():
    """Text of the program comes before that of the library."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # The program closed or replaced it.
            pass


@functools.lru_cache(maxsize=None)
def properties(device=0):
    """What the library says of a GPU, by the names of `hipDeviceProp_t`."""
    raw = ctypes.create_string_buffer(_PROPERTIES_BYTES)
    call("hipGetDevicePropertiesR0600", raw, ctypes.c_int(device))
    found = {}
    for name, (place, kind) in _FIELDS.items():
        if kind == "text":
            found[name] = ctypes.string_at(ctypes.addressof(raw) + place).decode()
        else:
            found[name] = kind.from_buffer(raw, place).value
    return found


def device_count():
    """GPUs that the program has."""
    count = ctypes.c_int()
    call("hipGetDeviceCount", ctypes.byref(count))
    return count.value


def current_device():
    """Number of the GPU in use."""
    device = ctypes.c_int()
    call("hipGetDevice", ctypes.byref(device))
    return device.value


def set_device(device):
    """Uses another GPU from now on."""
    call("hipSetDevice", ctypes.c_int(device))


def elapsed():
    """Modelled nanoseconds of all work so far, launches so far, and how many pieces of work have no modelled time."""
    nanoseconds, launches, unknown = ctypes.c_double(), ctypes.c_uint64(), ctypes.c_uint64()
    call("rockhoundElapsed", ctypes.byref(nanoseconds), ctypes.byref(launches), ctypes.byref(unknown))
    return nanoseconds.value, launches.value, unknown.value


def measure(is_on):
    """Launches get a modelled time from now on, recorded or not; what the answer was before."""
    before = ctypes.c_int()
    call("rockhoundMeasure", ctypes.c_int(is_on), ctypes.byref(before))
    return bool(before.value)


def keep_faults():
    """Stopped kernels are exceptions whose messages the command does not repeat."""
    call("rockhoundFaults", ctypes.c_int(2))


def use_threads(count):
    """Threads that run workgroups from now on."""
    call("rockhoundThreads", ctypes.c_uint32(count))


def check(checks):
    """Looks for mistakes in launches from now on; nothing is timed."""
    call("rockhoundCheck", checks.encode())


def say(text):
    """Tells the user something."""
    flush()
    print(f"rockhound: {text}", file=sys.stderr, flush=True)


@functools.lru_cache(maxsize=None)
def say_once(text):
    """Tells the user something, once."""
    say(text)
