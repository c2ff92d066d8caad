"""The driver's topology, `/sys/class/kfd`, for Python code that counts GPUs there, on machines without the driver."""

import builtins
import functools
import io
import os

_PREFIX = "/sys/class/kfd"


def show():
    """Shows the emulated GPUs there."""
    session = os.environ.get("ROCKHOUND_SESSION")
    if not session or os.path.exists(_PREFIX):
        return
    root = os.path.join(session, "topology")

    def moved(path):
        if isinstance(path, (str, os.PathLike)):
            text = os.fspath(path)
            if isinstance(text, str) and (text == _PREFIX or text.startswith(_PREFIX + "/")):
                return root + text[len(_PREFIX) :]
        return path

    def watched(function):
        @functools.wraps(function)
        def call(path=None, *rest, **named):
            return function(moved(path), *rest, **named)

        return call

    for name in ("stat", "lstat", "access", "listdir", "scandir", "open"):
        function = getattr(os, name)
        replacement = watched(function)
        setattr(os, name, replacement)
        # The standard library asks what a function can do by looking it up here.
        for able in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
            if function in able:
                able.add(replacement)
    plain = builtins.open

    @functools.wraps(plain)
    def opened(file, *rest, **named):
        return plain(moved(file), *rest, **named)

    builtins.open = io.open = opened
