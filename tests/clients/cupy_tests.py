"""A seeded sample of cupy's own tests, from the folder that CUPY_TESTS names."""

import os
import random
import sys

import pytest
from checks import _tell, counts

SAMPLE = int(os.environ.get("CUPY_SAMPLE", "300"))
FOLDERS = ["core_tests", "creation_tests", "indexing_tests", "logic_tests", "manipulation_tests", "math_tests", "sorting_tests", "statistics_tests"]
# Files of what this machine lacks: hipcc, CUB, Thrust, cuTENSOR, DLPack of NVIDIA's driver.
ABSENT = ["test_cub_reduction.py", "test_include.py", "test_dlpack.py", "test_mdspan.py"]


class Sample:
    """Keeps a sample of the collected tests and counts results."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], 0

    def pytest_collection_modifyitems(self, items):
        chosen = set(random.Random(49).sample(range(len(items)), min(SAMPLE, len(items))))
        print(f"{len(chosen)} of {len(items)} tests", file=sys.stderr)
        items[:] = [item for number, item in enumerate(items) if number in chosen]

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report)
        elif report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.passed += 1


folder = os.path.join(os.environ["CUPY_TESTS"], "cupy_tests")
sample = Sample()
arguments = ["-q", "-p", "no:cacheprovider", "--timeout=300", "--rootdir", os.path.dirname(os.environ["CUPY_TESTS"].rstrip("/"))]
arguments += ["-m", "not slow and not multi_gpu"]
arguments += [f"--ignore-glob=*/{name}" for name in ABSENT]
arguments += [os.path.join(folder, it) for it in FOLDERS]
# Standard output is for the results.
output = os.dup(1)
os.dup2(2, 1)
pytest.main(arguments, plugins=[sample])
sys.stdout.flush()
os.dup2(output, 1)
for report in sample.failed:
    _tell(check=report.nodeid.split("cupy_tests/")[-1], failed=str(report.longrepr).strip().splitlines()[-1][:300], counted=True)
counts(sample.passed, len(sample.failed), sample.skipped)
