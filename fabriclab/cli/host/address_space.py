"""A limit of the address space under which tables can't be made is refused before anything is run:
what meets it aborts or hangs."""

from __future__ import annotations

from fabriclab.engine.address_space import limit_bytes, needed_bytes
from fabriclab.engine.artefacts import EngineError

_KIB = 1 << 10


def refuse_too_little() -> None:
    """Raise EngineError where `ulimit -v` leaves too little."""
    limit, needed = limit_bytes(), needed_bytes()
    if limit is None or limit >= needed:
        return
    raise EngineError(
        f"ulimit -v {limit // _KIB}: this shell's limit of the address space, in KiB, is too low: making results needs "
        f"{needed // _KIB} (reserved, most of it never used). Raise it: `ulimit -v unlimited`, "
        "or in a shell without that limit; "
        "nothing was begun"
    )
