"""Flow traces converted from other programs' files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.api.lab import PathLike
from fabriclab.errors import ArgumentError
from fabriclab.flow_importers import NAMES, importer_of
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.flow_importers.convert import TRANSPORTS, Transport, convert_flows, convert_job
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab.reading.files import LARGEST_TRACE_BYTES, UnreadableError, read_named_file
from fabriclab.lab.reading.names import expand_range
from fabriclab.workload import trace_text

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ConvertedTrace:
    """A flow trace converted from another program's file. A lab replays it (`kind: trace`)."""

    frame: pl.DataFrame
    """One row a flow: the columns of the trace (`traffic/README.md`)."""
    hosts: tuple[str, ...]
    """The hosts that the file's nodes 0, 1 and so on became."""
    raised: int
    """How many flows had fewer than 4 bytes, and have 4 now: the first four carry the flow's number."""

    @property
    def flows(self) -> pl.LazyFrame:
        """The same rows, lazily."""
        return self.frame.lazy()

    def lines(self) -> Iterator[str]:
        """Yield the text of the trace file, whole lines at a time."""
        return trace_text(self.frame)


def convert(
    file: PathLike,
    source: str,
    *,
    hosts: str | Sequence[str] | None = None,
    transport: Transport = "tcp",
    chakra: ChakraOptions | None = None,
) -> ConvertedTrace:
    """Return the flow trace of another program's file.

    `source` is its format: `hpcc`, a flow file of HPCC's ns-3; `htsim`, a connection matrix; `coflow`, a trace of
    Coflow-Benchmark; `chakra`, the execution traces of all ranks of a training, by their directory, their prefix or one
    of them, for which `chakra` has the options.

    `hosts` are the hosts for the nodes (ranks) 0, 1 and so on, as names or as text such as `h1..h16`; by default h1, h2
    and so on. `transport` carries all flows: `tcp`, `mptcp` or `roce`. Nothing is written. Raises ArgumentError for an
    unknown format or transport, invalid hosts or an unreadable file, TraceError with every mistake in the file.
    """
    if source not in NAMES:
        raise ArgumentError("source {0!r}: no such format; {1}", source, did_you_mean(source, NAMES))
    if transport not in TRANSPORTS:
        raise ArgumentError("transport {0!r}: not of a trace; {1}", transport, did_you_mean(transport, TRANSPORTS))
    path, names = Path(file), None if hosts is None else _host_names(hosts)
    if chakra not in (None, ChakraOptions()) and source != "chakra":
        raise ArgumentError("source {0!r}: the options of chakra are not for it; leave them out", source)
    if importer_of(source).of_ranks:
        return ConvertedTrace(*convert_job(path, _read, names, transport, chakra or ChakraOptions()))
    try:
        text = _read(path).decode()
    except UnicodeDecodeError as error:
        raise ArgumentError("{0}: {1}; it must be text, UTF-8", path, error.reason) from error
    return ConvertedTrace(*convert_flows(text, str(path), source, names, transport))


def _read(path: Path) -> bytes:
    try:
        return read_named_file(path, LARGEST_TRACE_BYTES)
    except UnreadableError as error:
        raise ArgumentError("{0}: {1}", path, error) from error


def _host_names(written: str | Sequence[str]) -> list[str]:
    """Return the hosts of `h1..h16`, of `a,b,c`, or of a sequence of such words."""
    names: list[str] = []
    for word in written.split(",") if isinstance(written, str) else written:
        try:
            names += expand_range(word.strip()) or [word.strip()]
        except ValueError as error:
            raise ArgumentError("{hosts} {0!r}: {1}", written, error) from error
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None or "" in names:
        why = "an empty name" if twice is None else f"{twice!r} twice"
        raise ArgumentError("{hosts} {0!r}: {1}; write a range or a list of names", written, why)
    return names
