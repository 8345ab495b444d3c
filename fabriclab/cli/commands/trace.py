"""`fabriclab trace` and `fabriclab convert`: the flow trace of a lab, and traces from other programs' flow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.cli.arguments.lab_names import find_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.cli.host.output import write_output
from fabriclab.cli.host.waiting import waiting
from fabriclab.compile import compiled_flows, trace_text
from fabriclab.lab import parse_lab
from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, read_named_file
from fabriclab.lab.reading.names import expand_range
from fabriclab.resolve import resolve_plan
from fabriclab.workload import convert_flows, trace_summary


def trace(lab_directory: Path, seed: int | None, settings: Sequence[str], out: Path | None, summary: bool) -> None:
    """Write the trace of one point of a lab, or what it comes to."""
    lab_directory = find_lab(lab_directory)
    with waiting(f"reading {lab_directory}") as tell:
        lab = parse_lab(lab_directory, every_point=False)
        plan = resolve_plan(lab, parse_settings(settings), seed)
        tell("drawing the flows")
        flows = compiled_flows(plan, lab.directory)
    write_output([trace_summary(plan, flows)] if summary else trace_text(flows), out)


def convert(file: Path, source: str, hosts: str | None, out: Path | None) -> None:
    """Write the trace that a simulator's flow file comes to."""
    try:
        text = read_named_file(file, LARGEST_TRACE_BYTES).decode()
    except UnreadableError as error:
        raise BadInputError(f"{file}: {error}") from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{file}: {error.reason}; it must be text, UTF-8") from error
    converted = convert_flows(text, str(file), source, None if hosts is None else _host_names(hosts))
    write_output(trace_text(converted.flows), out)
    if hosts is None and converted.hosts:
        say(
            f"nodes 0 to {len(converted.hosts) - 1} are {converted.hosts[0]} to {converted.hosts[-1]}; "
            "--hosts names others"
        )
    if converted.raised:
        say(f"smaller than 4 bytes, raised to that (the first four carry the flow's number): {converted.raised}")


def _host_names(text: str) -> list[str]:
    """Return the hosts of `h1..h16` or `a,b,c`."""
    names: list[str] = []
    for word in text.split(","):
        try:
            names += expand_range(word.strip()) or [word.strip()]
        except ValueError as error:
            raise BadInputError(f"--hosts {text!r}: {error}") from error
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None or "" in names:
        raise BadInputError(
            f"--hosts {text!r}: {'an empty name' if twice is None else f'{twice!r} twice'}; "
            "write a range or a list of names"
        )
    return names
