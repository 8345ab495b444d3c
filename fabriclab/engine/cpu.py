"""One CPU for each machine: a machine is one CPU itself, and is several times faster when its processes don't
wander over the host's."""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


def usable_cpus() -> list[int]:
    """Return the CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def claim_cpu() -> Iterator[int]:
    """Give a CPU that no other machine of this user holds, or any when all are taken, or when nothing can be held here.

    Held by a lock that ends with the process.
    """
    # From the last: the first CPU serves most interrupts.
    for cpu in reversed(usable_cpus()):
        try:
            descriptor = _hold(cpu)
        except BlockingIOError:
            continue
        except OSError:
            break  # Nothing can be written, or somebody else took the directory's name.
        try:
            yield cpu
        finally:
            os.close(descriptor)
        return
    yield random.choice(usable_cpus())


@contextmanager
def claim_cpus(count: int) -> Iterator[list[int | None]]:
    """Give as many CPUs, each as `claim_cpu` does; where there are fewer, machines share all (None)."""
    with ExitStack() as stack:
        cpus = [stack.enter_context(claim_cpu()) for _ in range(count)]
        yield list(cpus) if len(set(cpus)) == count else [None] * count


def _hold(cpu: int) -> int:
    """Return the descriptor that holds a CPU.

    Raises BlockingIOError where it is taken, another OSError where nothing can be held.
    """
    directory = Path(tempfile.gettempdir()) / f"fabriclab-cpus-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(directory / str(cpu), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
