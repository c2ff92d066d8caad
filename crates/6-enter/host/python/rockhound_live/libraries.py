"""Libraries of ROCm that packages of Python bring along win over those that stand in for them.

The dynamic linker looks into the session's folder before the folders that a package's library names, so a stand-in of which a package has the
real library is removed from this run's folder before anything is loaded.
"""

import glob
import os
import sys


def give_way():
    """Removes stand-ins for libraries that a package on the path has."""
    session = os.environ.get("ROCKHOUND_SESSION")
    folder = os.path.join(session, "libraries") if session else ""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return
    for entry in sys.path:
        for pattern in ("*/lib", "*.libs"):
            for own in glob.glob(os.path.join(glob.escape(entry or os.curdir), pattern)):
                _give_way_to(own, folder, names)


def _give_way_to(own, folder, names):
    try:
        found = names.intersection(os.listdir(own))
    except OSError:
        return
    for name in found:
        names.discard(name)
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            # Another process of the run was first.
            pass
