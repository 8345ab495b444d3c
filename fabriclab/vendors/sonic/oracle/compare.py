"""What orchagent made of a file, compared with what is to be made of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fabriclab.vendors.sonic.oracle.asic_db import AsicDb
from fabriclab.vendors.sonic.oracle.facts import KINDS, Record, of_asic, of_file
from fabriclab.vendors.sonic.read.config_db import ConfigDb


@dataclass(frozen=True)
class Difference:
    """An object that one side has and the other has not, or has otherwise."""

    kind: str
    in_file: Record | None
    """None: only ASIC_DB has it."""
    in_asic: Record | None
    """None: only the file says it."""
    times: int = 1


@dataclass(frozen=True)
class Comparison:
    """How many objects were compared by kind, and what differs."""

    compared: dict[str, int]
    equal: dict[str, int]
    differences: tuple[Difference, ...]


def compared(config: ConfigDb, database: AsicDb) -> Comparison:
    """Return the comparison of a file with ASIC_DB: ports by name, all else, which has no name there, by what it is."""
    wanted, found = of_file(config, database.ports()), of_asic(database, config)
    counts, equal, differences = {}, {}, []
    for kind in KINDS:
        file, asic = Counter(wanted[kind]), Counter(found[kind])
        same = file & asic
        counts[kind], equal[kind] = (file | asic).total(), same.total()
        differences += _pairs(kind, file - same, asic - same)
    return Comparison(counts, equal, tuple(differences))


def _pairs(kind: str, file: Counter[Record], asic: Counter[Record]) -> list[Difference]:
    """Pair what is left by likeness: an object that is there otherwise is one difference, not two."""
    left, pairs = dict(asic), []
    for record, times in file.items():
        near = max(left, key=lambda other: len(set(other) & set(record)), default=None)
        alike = near is not None and (kind == "port") <= (dict(near).get("name") == dict(record).get("name"))
        pairs.append(Difference(kind, record, near if alike else None, times))
        if alike and near is not None:
            del left[near]
    return pairs + [Difference(kind, None, record, times) for record, times in left.items()]
