"""Which ranks a collective is between: its process group, or the dimensions that it involves.

Source: astra-sim, astra-sim/workload/Workload.cc: `issue_pytorch_pg_metadata` (a METADATA_NODE's inputs are JSON, a
list of `{"pg_name": "1", "ranks": [0, 1]}`; no ranks are all), `extract_comm_group` (no `pg_name`, or "0", is all
ranks), `issue_coll_comm` (`involved_dim`, a list of truth values).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from fabriclab.flow_importers.chakra.nodes import RankTrace, TraceNode
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.workload.trace_problems import TraceProblems, shown

_OF_ALL = ("", "0")
Groups = Mapping[str, tuple[int, ...]]


class ProcessGroup(NamedTuple):
    """Ranks that communicate: its name in the trace, and its ranks in the order of their places."""

    name: str
    ranks: tuple[int, ...]


def known_groups(trace: RankTrace, options: ChakraOptions, ranks: int, problems: TraceProblems) -> Groups:
    """Return the process groups that a rank knows, by name; what is wrong is recorded."""
    groups = {name: tuple(members) for name, members in options.groups.items()}
    for node in trace.nodes:
        if node.type != "METADATA_NODE" or "pg_name" not in node.inputs:
            continue
        try:
            for found in _listed(node.inputs):
                members = tuple(int(rank) for rank in found["ranks"])
                groups[str(found["pg_name"])] = members or tuple(range(ranks))
        except (ValueError, TypeError, KeyError) as error:
            wanted = 'it must be JSON such as [{"pg_name": "1", "ranks": [0, 1]}]'
            problems.add(trace.file, node.place, f"{node}: {shown(node.inputs)}: {error}; {wanted}")
    return groups


def _listed(inputs: str) -> Sequence[Mapping[str, Any]]:
    """Return the process groups of a METADATA_NODE: JSON, which is a text in a list of one where PyTorch wrote it."""
    try:
        found = json.loads(inputs)
    except ValueError:
        # PyTorch's own list does not escape the quotes of the text in it.
        found = json.loads(inputs[2:-2])
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], str):
        found = json.loads(found[0])
    if not isinstance(found, list):
        raise TypeError("no list")
    return found


def group_of(node: TraceNode, rank: int, groups: Groups, ranks: int, options: ChakraOptions) -> ProcessGroup | str:
    """Return the ranks of a collective; or what is wrong."""
    name = str(node.attributes.get("pg_name", ""))
    if name in groups:
        members = groups[name]
        if len(set(members)) < len(members) or not all(0 <= member < ranks for member in members):
            listed = list(members)[:20]
            return f"process group {shown(name)} has the ranks {listed}, which must be different, from 0 to {ranks - 1}"
        if rank not in members:
            return f"process group {shown(name)} has the ranks {list(members)[:20]}, and {rank} is none of them"
        return ProcessGroup(name, members)
    if name not in _OF_ALL:
        known = ", ".join(sorted(groups)[:20]) or "none"
        return f"process group {shown(name)} is unknown (known: {known}); give its ranks by --groups"
    return _by_dimensions(node, rank, ranks, options)


def _by_dimensions(node: TraceNode, rank: int, ranks: int, options: ChakraOptions) -> ProcessGroup | str:
    involved = node.attributes.get("involved_dim")
    sizes = options.dimensions or (ranks,)
    if prod(sizes) != ranks:
        return f"the dimensions {sizes} have {prod(sizes)} ranks, but the trace has {ranks}"
    if not isinstance(involved, list):
        return ProcessGroup("", tuple(range(ranks)))
    if len(involved) < len(sizes) or (not options.dimensions and not all(involved)):
        return f"involved_dim {involved} needs the sizes of {len(involved)} dimensions; give them by --dimensions"
    place = _coordinates(rank, sizes)
    members = tuple(
        other
        for other in range(ranks)
        if all(
            used or mine == its for used, mine, its in zip(involved, place, _coordinates(other, sizes), strict=False)
        )
    )
    name = "".join("1" if used else "0" for used in involved[: len(sizes)])
    return ProcessGroup("" if len(members) == ranks else f"dimensions {name}", members)


def _coordinates(rank: int, sizes: Sequence[int]) -> list[int]:
    found: list[int] = []
    for size in sizes:
        rank, here = divmod(rank, size)
        found.append(here)
    return found
