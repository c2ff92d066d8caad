"""``python -m rockhound``: the command of this installation."""

from __future__ import annotations

import os
import sys
import sysconfig

from ._error import RockhoundError


def find_command() -> str:
    """The path of the command that was installed with this package."""
    folders = [sysconfig.get_path("scripts")]
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target FOLDER` puts it into FOLDER/bin.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        command = os.path.join(folder, "rockhound")
        if os.path.isfile(command):
            return command
    raise RockhoundError("the command `rockhound` is not where pip puts commands", "install the package again")


if __name__ == "__main__":
    try:
        found = find_command()
    except RockhoundError as error:
        sys.exit(f"error: {error}")
    # The same process goes on as the command, so signals and the exit code are its own.
    os.execv(found, ["rockhound", *sys.argv[1:]])
