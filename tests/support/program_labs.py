"""A lab that runs programs of its own, and its plan."""

from __future__ import annotations

from sample_plans import star

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import Awaited, ProgramTraffic

MIB = 1 << 20


SERVER = ProgramTraffic(
    name="server",
    node="h1",
    argv=("serve", "--all"),
    start_ns=0,
    serves=True,
    packages=("server-package", "common"),
    memory_bytes=300 * MIB,
)


CLIENT = ProgramTraffic(
    name="client",
    node="h2",
    argv=("ask", ""),
    start_ns=5,
    stop_ns=9,
    after=(Awaited(program="server", port=80), Awaited(program="before")),
    status=3,
    environment=(("LANG", "C"),),
    output="answers.csv",
    packages=("common",),
    memory_bytes=MIB,
)


BEFORE = ProgramTraffic(name="before", node="s1", argv=("true",), start_ns=0, memory_bytes=MIB)


def plan() -> Plan:
    return star(3, traffic=(SERVER, CLIENT, BEFORE))
