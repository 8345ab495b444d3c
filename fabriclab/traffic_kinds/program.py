"""`kind: program`: a program of the user's own, on a node."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import ProgramTraffic
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.section import Section, value_of, value_or
from fabriclab.lab.traffic.bounds import LONGEST_NS
from fabriclab.lab.traffic.carrier import read_dscp
from fabriclab.lab.traffic.command import (
    LARGEST_STATUS,
    MOST_MEMORY_BYTES,
    SMALLEST_MEMORY_BYTES,
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
from fabriclab.units import format_duration

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site


class Program(Kind[ProgramTraffic]):
    """A program that runs on a node."""

    keys = (
        *("kind", "node", "argv", "packages", "jars", "start", "stop", "after", "serves", "status", "environment"),
        *("output", "memory", "dscp"),
    )

    def read(self, section: Section, name: str, scope: Scope) -> ProgramTraffic | None:
        """Return the program; None after recording what is wrong."""
        section.require("node", example="node: the host or switch that it runs on")
        section.require("argv", example="argv: the program and its arguments, such as [redis-server, --save, '']")
        node, argv = read_node(section, scope.names), read_argv(section)
        start_ns = read_start(section)
        stop = section.duration("stop", 1, LONGEST_NS)
        if stop is not None and stop.value <= start_ns:
            stop.complain(section.problems, f"{stop.text!r} is not after the start, {format_duration(start_ns)}")
        status = section.count("status", 0, LARGEST_STATUS)
        serves = value_or(section.flag("serves"), False)
        if serves and status is not None:
            status.complain(section.problems, "belongs to a program that ends by itself, not to one that serves")
        memory = section.size("memory", SMALLEST_MEMORY_BYTES, MOST_MEMORY_BYTES)
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
            status=value_or(status, 0),
            environment=environment,
            dscp=read_dscp(section),
            output=output,
            serves=serves,
            packages=packages,
            jars=jars,
            memory_bytes=value_or(memory, defaults.PROGRAM_MEMORY_BYTES),
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
