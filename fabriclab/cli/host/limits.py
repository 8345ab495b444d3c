"""This shell's limits, looked at before a command loads anything."""

from __future__ import annotations


def refuse_limits() -> None:
    """End the command where `ulimit -v` leaves too little: Polars aborts where it gets no memory."""
    from fabriclab.cli.host import failure
    from fabriclab.engine import address_space

    with failure.reported():
        address_space.refuse_too_little()
