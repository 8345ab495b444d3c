"""`fabriclab trace` and `fabriclab convert`: the flow trace of a lab, and traces from other programs' flow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.api.look import trace as trace_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.cli.host.output import write_output
from fabriclab.cli.host.waiting import waiting
from fabriclab.importers.convert import convert_flows
from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, read_named_file
from fabriclab.lab.reading.names import expand_range
from fabriclab.workload import trace_text


def trace(lab: Path, seed: int | None, settings: Sequence[str], out: Path | None, summary: bool) -> None:
    """Write the trace of one point of a lab, or what it comes to."""
    chosen = parse_settings(settings)
    with waiting(f"reading {lab}") as tell:
        flows = trace_lab(lab, set=chosen, seed=seed, tell=tell)
    write_output([flows.summary] if summary else flows.lines(), out)


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
