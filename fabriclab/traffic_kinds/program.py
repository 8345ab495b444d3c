"""`kind: program`: a program of the user's own, on a node."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic import ProgramTraffic
from fabriclab.keys.mappings import Key, Named
from fabriclab.keys.quantities import Flag, Number, Quantity
from fabriclab.keys.values import Either, Items, Several, Text
from fabriclab.lab.reading.section import Section, value_of
from fabriclab.lab.traffic.carrier import read_dscp
from fabriclab.lab.traffic.keys import DSCP, JARS, START, STOP, keys_of_kind
from fabriclab.lab.traffic.programs import (
    AWAITED,
    OUTPUT_FILE,
    PACKAGE,
    VARIABLE,
    read_after,
    read_argv,
    read_environment,
    read_jars,
    read_node,
    read_output,
    read_packages,
)
from fabriclab.lab.traffic.scope import Scope, read_start
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import SIZE, format_duration

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site

NODE = Key("node", Text("a node's name"), "The host or switch that it runs on.", examples=("h1",), required=True)
ARGV: Key[Any] = Key(
    "argv",
    Either((Items(Text("a word"), "a list of words"), Text("a text that is divided as in a shell"))),
    "The program and its arguments. Nodes know each other by their names.",
    examples=(("redis-benchmark", "-h", "h1"),),
    required=True,
)
PACKAGES = Key(
    "packages",
    Several(Text("a package", PACKAGE), "the names of Debian packages"),
    "The Debian packages that the programs need beyond the root file system, with their dependencies.",
    unset="none",
    examples=(("redis-server", "redis-tools"),),
)
AFTER = Key(
    "after",
    Several(Text("a program", AWAITED), "a list of `NAME` and `NAME:PORT`"),
    "The conditions that it waits for: another program has ended successfully, or the other program's node listens "
    "on a TCP port.",
    unset="nothing",
    examples=(("server:6379",),),
)
SERVES = Key(
    "serves",
    Flag(),
    "With `true` the run does not wait for its end: it gets SIGTERM when all other traffic is complete.",
    default=False,
)
STATUS = Key("status", Number(*ranges.STATUS), "The exit status that means success.", default=0)
ENVIRONMENT: Key[Any] = Key(
    "environment",
    Named(Text("any text"), "a mapping of variables", VARIABLE),
    "Environment variables in addition to `PATH`, `HOME`, `FABRICLAB_NODE` and `FABRICLAB_EPOCH_NS`.",
    unset="none",
)
OUTPUT = Key(
    "output",
    Text("a file's name", OUTPUT_FILE),
    "A file in the run's directory `output` for its standard output.",
    unset="its log, `logs/NAME@NODE.log`, which holds its standard error too",
    examples=("result.csv",),
)
MEMORY = Key(
    "memory",
    Quantity(SIZE, *ranges.PROGRAM_MEMORY_BYTES),
    "The memory that the virtual machine has for it.",
    default=64 * 2**20,
    examples=("500 MB",),
)
PROGRAM_START = START.but(about="The earliest time at which it starts, in virtual time.", examples=("10 ms",))
PROGRAM_STOP = STOP.but(
    required=False,
    unset="when it ends by itself, or with the run",
    about="When it gets SIGTERM, and a second later SIGKILL. Ending in this way is not a failure.",
)
KEYS = keys_of_kind(
    "program",
    "A program of your own on a node, a server or a client.",
    NODE,
    ARGV,
    PACKAGES,
    JARS,
    PROGRAM_START,
    PROGRAM_STOP,
    AFTER,
    SERVES,
    STATUS,
    ENVIRONMENT,
    OUTPUT,
    MEMORY,
    DSCP,
)


class Program(Kind[ProgramTraffic]):
    """A program that runs on a node."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> ProgramTraffic | None:
        """Return the program; None after recording what is wrong."""
        section.require("node", example="node: the host or switch that it runs on")
        section.require("argv", example="argv: the program and its arguments, such as [redis-server, --save, '']")
        node, argv = read_node(section, scope.names), read_argv(section)
        start_ns = read_start(section)
        stop = section.read(PROGRAM_STOP)
        if stop is not None and stop.value <= start_ns:
            stop.complain(section.problems, f"{stop.text!r} is not after the start, {format_duration(start_ns)}")
        status = section.read(STATUS)
        serves = SERVES.or_default(section.read(SERVES))
        if serves and status is not None:
            status.complain(section.problems, "belongs to a program that ends by itself, not to one that serves")
        memory = section.read(MEMORY)
        after, environment = read_after(section), read_environment(section)
        output, packages = read_output(section), read_packages(section)
        jars = read_jars(section, scope.directory)
        if node is None or argv is None:
            return None
        return ProgramTraffic(
            name=name,
            node=node,
            argv=argv,
            start_ns=start_ns,
            stop_ns=value_of(stop),
            after=after,
            status=STATUS.or_default(status),
            environment=environment,
            dscp=read_dscp(section),
            output=output,
            serves=serves,
            packages=packages,
            jars=jars,
            memory_bytes=MEMORY.or_default(memory),
        )

    def flows(self, traffic: ProgramTraffic, site: Site) -> pl.DataFrame:
        """Return no flows: what a program sends is its own."""
        import numpy as np

        from fabriclab.workload.flows import flow_table

        none = np.zeros(0, dtype=np.int64)
        return flow_table(site, traffic.name, traffic.carried_by, {"start_ns": none, "src": none, "dst": none})

    def sentences(self, traffic: ProgramTraffic, plan: Plan) -> Iterator[str]:
        """Yield what runs where, and when."""
        yield f"{traffic.node} runs {shlex.join(traffic.argv)}"
        start = f"from {words.time(traffic.start_ns)}"
        if traffic.after:
            start += f", after {', '.join(map(str, traffic.after))}"
        until = "" if traffic.stop_ns is None else f", until {words.time(traffic.stop_ns)}"
        yield start + until + (", for as long as the others run" if traffic.serves and not until else "")
        if traffic.packages:
            yield f"of Debian's {', '.join(traffic.packages)}"
        if traffic.jars:
            yield f"with {len(traffic.jars)} Java archives"


KIND = Program()
