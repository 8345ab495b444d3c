"""`fabriclab trace` and `fabriclab convert`: the flow trace of a lab, and traces from other programs' flow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.conversion import convert as convert_file
from fabriclab.api.look import trace as trace_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.failure import say
from fabriclab.cli.host.output import write_output
from fabriclab.cli.host.waiting import waiting
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.flow_importers.convert import Transport


def trace(lab: Path, seed: int | None, settings: Sequence[str], out: Path | None, summary: bool) -> None:
    """Write the trace of one point of a lab, or what it comes to."""
    chosen = parse_settings(settings)
    with waiting(f"reading {lab}") as tell:
        flows = trace_lab(lab, set=chosen, seed=seed, tell=tell)
    write_output([flows.summary] if summary else flows.lines(), out)


def convert(
    file: Path, source: str, hosts: str | None, transport: Transport, chakra: ChakraOptions, out: Path | None
) -> None:
    """Write the trace that a simulator's flow file comes to, or a training's execution traces."""
    converted = convert_file(file, source, hosts=hosts, transport=transport, chakra=chakra)
    write_output(converted.lines(), out)
    if hosts is None and converted.hosts:
        say(
            f"nodes 0 to {len(converted.hosts) - 1} are {converted.hosts[0]} to {converted.hosts[-1]}; --hosts "
            "chooses others"
        )
    if converted.raised:
        say(f"flows smaller than 4 bytes, raised to 4 bytes (which carry the flow's number): {converted.raised}")
