"""What programs other than ours are preloaded with (`images/machine/preload`): the class of what they send, and what
disks and processors cost them."""

from __future__ import annotations

from fabriclab.formats.plan.traffic import ProgramTraffic

_PRELOAD = "/tools/program.so"
Variables = tuple[tuple[str, str], ...]


def program_variables(program: ProgramTraffic) -> Variables:
    """Return a program's environment, its own variables last."""
    return (*preload_variables(program.dscp), *program.environment)


def preload_variables(dscp: int, *costs: tuple[str, str]) -> Variables:
    """Return the environment of a program whose packets have a class, or that pays costs; empty without either."""
    classed = (("FABRICLAB_DSCP", str(dscp)),) if dscp else ()
    return (("LD_PRELOAD", _PRELOAD), *classed, *costs) if classed or costs else ()
