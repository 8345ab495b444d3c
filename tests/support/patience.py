"""How long a test waits for what must come: longer on a host that is slow, or that does other work beside it.

A bound on waiting only keeps a failing test from waiting for ever; nothing is judged by it. Seconds are written as they
suit an idle host, and `patient` makes them longer by the factor that is found when the session starts, which is how
much longer a Python process takes to start than on an idle host. Load that comes later is seen in the load average.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

FACTOR = "FABRICLAB_TEST_PATIENCE"
"""The variable by which a session hands its factor to the workers and the processes that it starts."""
NOMINAL_S = 0.04
"""What the start of a Python process takes on an idle host of the kind that the tests were written on."""
MOST = 20.0
"""Above this a host is not slow, it stands."""
_PROGRAM = "import argparse, json, subprocess, typing"


def calibrate() -> float:
    """Return by how much this host is slower than an idle one, at least 1; the first call of a session measures it."""
    if FACTOR not in os.environ:
        times = []
        for _ in range(3):
            begun = time.monotonic()
            subprocess.run([sys.executable, "-I", "-c", _PROGRAM], check=True)
            times.append(time.monotonic() - begun)
        os.environ[FACTOR] = f"{min(MOST, max(1.0, sorted(times)[1] / NOMINAL_S)):.2f}"
    return float(os.environ[FACTOR])


def slowness() -> float:
    """Return the factor now: what was measured, or how many processes want each processor, if that is more."""
    crowd = os.getloadavg()[0] / (os.cpu_count() or 1)
    return min(MOST, max(calibrate(), crowd))


def patient(seconds: float) -> float:
    """Return how long to wait on this host for what takes at most so many seconds on an idle one."""
    return seconds * slowness()


def wait_until(condition: Callable[[], object], seconds: float = 60, what: object = "") -> None:
    """Wait for something that will happen; after so many seconds of an idle host's the test fails and says `what`."""
    end = time.monotonic() + patient(seconds)
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened{what and ': '}{what() if callable(what) else what}")
        time.sleep(0.02)
