"""The address space that a process may have: what makes tables and pictures reserves far more of it than it uses.

A limit under which tables can't be made is refused before anything is run: what meets it aborts or hangs.
"""

from __future__ import annotations

import os
import resource

from fabriclab.engine.artefacts import EngineError

_MIB = 1 << 20
_NEEDED_BYTES = 2560 * _MIB
_PER_CPU_BYTES = 32 * _MIB


def needed_bytes() -> int:
    """Return the address space that a command with results needs on this host, in bytes.

    Measured with Polars 2.1 and numpy 2: a report's process peaks at 2.44 GB on one CPU, and 7 to 12 MB more for each
    thread of Polars, which has one a CPU. 190 MB of it are memory.
    """
    return _NEEDED_BYTES + _PER_CPU_BYTES * len(os.sched_getaffinity(0))


def limit_bytes() -> int | None:
    """Return the limit of this process's address space (`ulimit -v`), in bytes; None where there is none."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


_KIB = 1 << 10


def refuse_too_little() -> None:
    """Raise EngineError where `ulimit -v` leaves too little."""
    limit, needed = limit_bytes(), needed_bytes()
    if limit is None or limit >= needed:
        return
    raise EngineError(
        f"ulimit -v {limit // _KIB}: this shell's limit of the address space, in KiB, is too low. Making results needs "
        f"{needed // _KIB} (reserved, most of it never used). Raise the limit with `ulimit -v unlimited`, "
        "or use a shell without a limit; "
        "nothing was started"
    )
