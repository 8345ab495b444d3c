"""The files of an execution trace: one for each rank, `PREFIX.<rank>.et`, or `.json` of chakra_jsonizer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from fabriclab.flow_importers.chakra.binary_form import read_binary
from fabriclab.flow_importers.chakra.json_form import read_json
from fabriclab.flow_importers.chakra.nodes import RankTrace, TraceNode
from fabriclab.workload.trace_problems import TraceProblems

FileReader = Callable[[Path], bytes]
_NAME = re.compile(r"(?P<prefix>.*)\.(?P<rank>[0-9]{1,7})\.(?P<form>et|json)", re.DOTALL)
_FORMS = {"et": read_binary, "json": read_json}


def read_ranks(path: Path, read: FileReader, problems: TraceProblems) -> list[RankTrace]:
    """Return the traces of all ranks, rank 0 first. `path` is the directory of the files, their prefix, or one of them.

    What is wrong is recorded.
    """
    found = _files(path, problems)
    traces = [RankTrace(rank, str(file), _nodes(file, read, problems)) for rank, file in sorted(found.items())]
    for trace in traces:
        _check_ids(trace, problems)
    return traces


def _nodes(file: Path, read: FileReader, problems: TraceProblems) -> list[TraceNode]:
    return _FORMS[file.suffix[1:]](read(file), str(file), problems)


def _files(path: Path, problems: TraceProblems) -> dict[int, Path]:
    """Return the files by rank."""
    directory = path if path.is_dir() else path.parent
    named = {file: _NAME.fullmatch(file.name) for file in sorted(directory.iterdir() if directory.is_dir() else ())}
    found = {file: match for file, match in named.items() if match is not None}
    own = _NAME.fullmatch(path.name)
    if not path.is_dir():
        prefix = own["prefix"] if own and path.is_file() else path.name
        found = {file: match for file, match in found.items() if match["prefix"] == prefix}
    sets = sorted({(match["prefix"], match["form"]) for match in found.values()}, key=lambda one: (one[1], one[0]))
    if not sets:
        problems.add(
            str(path),
            1,
            "no execution trace is there; it must be the directory or the prefix of PREFIX.0.et, PREFIX.1.et, ...",
        )
        return {}
    prefix, form = sets[0]
    other = next((one for one in sets if one[0] != prefix), None)
    if other is not None:
        problems.add(
            str(path), 1, f"the files of two traces are there, {prefix!r} and {other[0]!r}; name the prefix of one"
        )
    ranks = {int(match["rank"]): file for file, match in found.items() if (match["prefix"], match["form"]) == sets[0]}
    for missing in [rank for rank in range(max(ranks)) if rank not in ranks][: problems.wanted]:
        problems.add(
            str(directory / f"{prefix}.{missing}.{form}"),
            1,
            f"the file of rank {missing} is missing; there must be one for each rank from 0 to {max(ranks)}",
        )
    return ranks


def _check_ids(trace: RankTrace, problems: TraceProblems) -> None:
    """Check that ids are the nodes' own, and that all dependencies are nodes."""
    first: dict[int, int] = {}
    for node in trace.nodes:
        if first.setdefault(node.id, node.place) != node.place:
            problems.add(
                trace.file, node.place, f"{node}: message {first[node.id]} has this id, too; each node has its own"
            )
    for node in trace.nodes:
        for other in node.depends:
            if other not in first:
                problems.add(
                    trace.file, node.place, f"{node}: it depends on node {other}, which the file does not have"
                )
