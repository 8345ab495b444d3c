"""Two versions of a fabric: what each switch does otherwise, new findings, and the routes of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabriclab.cli.host.failure import BadInputError
from fabriclab.lab import LabError
from fabriclab.vendors.sonic.commands.diff import Difference, difference
from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.fabric.routing import routings
from fabriclab.vendors.sonic.fabric.view import read_view
from fabriclab.vendors.sonic.fabric.vrf_view import by_vrf
from fabriclab.vendors.sonic.judge import Judgement, judge_config_db
from fabriclab.vendors.sonic.judge.check import with_more
from fabriclab.vendors.sonic.lab.cabling import Cable
from fabriclab.vendors.sonic.read import examine_config_db, read_bytes

_Routes = Mapping[tuple[str, str], tuple[str, ...]]
"""The interfaces of the next hops, by switch and prefix."""


@dataclass(frozen=True)
class RouteChange:
    """A route of a switch that is another one, new, or gone."""

    switch: str
    prefix: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    """The interfaces of the next hops; empty: no route."""


@dataclass(frozen=True)
class FabricDifference:
    """A change of a fabric."""

    switches: Mapping[str, Difference]
    """By name, those that are in both versions."""
    added: Mapping[str, Judgement]
    removed: tuple[str, ...]
    routes: tuple[RouteChange, ...]
    not_routed: str
    """Why the routes were not compared; empty: they were."""
    files: tuple[Mapping[str, Path], Mapping[str, Path]] = field(default=({}, {}))
    """Those of both versions, by switch."""

    @property
    def changed(self) -> Mapping[str, Difference]:
        """The switches of both versions that differ."""
        return {name: one for name, one in self.switches.items() if one.changes or one.new.findings or one.gone}

    @property
    def touched(self) -> list[str]:
        """The switches whose files differ in any byte, that are added, or that are removed."""
        old, new = self.files
        both = [name for name in new if name in old and read_bytes(old[name]) != read_bytes(new[name])]
        return [*both, *(name for name in new if name not in old), *self.removed]

    @property
    def judgements(self) -> list[Judgement]:
        """The new findings: those that a change brings, and all of an added switch."""
        return [*(one.new for one in self.switches.values()), *self.added.values()]

    @property
    def has_lost_routes(self) -> bool:
        """Whether a switch that is in both versions has no route any more to a prefix, or nobody knows."""
        return bool(self.not_routed) or any(not one.new and one.switch in self.switches for one in self.routes)

    @property
    def is_any(self) -> bool:
        """Whether anything differs."""
        differ = any(one.changes or one.new.findings or one.gone for one in self.switches.values())
        return differ or bool(self.added or self.removed or self.routes)


def fabric_difference(old: Sequence[Path], new: Sequence[Path], cables: Sequence[Cable] = ()) -> FabricDifference:
    """Return what differs between the files of a fabric and those of its next version, by hostname. `cables`: those of
    both that are known from elsewhere."""
    before, after = _by_name(old), _by_name(new)
    judged = _judged(old, cables), _judged(new, cables)
    both = [name for name in after if name in before]
    switches = {}
    for name in both:
        files = before[name], after[name]
        data = read_bytes(files[0]), read_bytes(files[1])
        found = judged[0][str(files[0])], judged[1][str(files[1])]
        switches[name] = _with_lost_ways(difference(files, data, found, None))
    routes, why = _route_changes(old, new, cables)
    return FabricDifference(
        switches=switches,
        added={name: judged[1][str(file)] for name, file in after.items() if name not in before},
        removed=tuple(name for name in before if name not in after),
        routes=routes,
        not_routed=why,
        files=(before, after),
    )


def _with_lost_ways(one: Difference) -> Difference:
    """Return a difference of which a way to hosts that is lost is an error.

    In a file by itself a policy may mean it. Here the older version had the way, and whoever approves the change must
    hear of it.
    """
    findings = (
        replace(each, severity="error") if each.rule == "hosts-unreachable" else each for each in one.new.findings
    )
    return replace(one, new=replace(one.new, findings=tuple(findings)))


def _by_name(files: Sequence[Path]) -> dict[str, Path]:
    """Return the files by the hostnames that they have, or by their own names. Raises BadInputError for two alike."""
    found: dict[str, Path] = {}
    for file in files:
        try:
            config = examine_config_db(read_bytes(file), str(file))[0]
        except LabError:
            config = None
        name = (config.hostname if config is not None else "") or file.stem
        if name in found:
            raise BadInputError(f"{file}: its hostname {name} is also that of {found[name]}; give each switch once")
        found[name] = file
    return found


def _judged(files: Sequence[Path], cables: Sequence[Cable]) -> dict[str, Judgement]:
    """Return what is found in each file, and between them."""
    alone = [judge_config_db(read_bytes(file), str(file), None, None) for file in files]
    unsound = [one.file for one in alone if any(found.rule == "malformed" for found in one.findings)]
    between = judge_files(files, unsound, cables).findings if len(files) > 1 else {}
    return {one.file: with_more(one, between.get(one.file, ())) for one in alone}


def _route_changes(
    old: Sequence[Path], new: Sequence[Path], cables: Sequence[Cable]
) -> tuple[tuple[RouteChange, ...], str]:
    try:
        before, after = _routes(old, cables), _routes(new, cables)
    except LabError as error:
        return (), f"routes were not compared: {error.mistakes[0].message if error.mistakes else error}"
    keys = dict.fromkeys((*before, *after))
    changed = (key for key in keys if before.get(key) != after.get(key))
    return tuple(RouteChange(*key, before.get(key, ()), after.get(key, ())) for key in changed), ""


def _routes(files: Sequence[Path], cables: Sequence[Cable]) -> _Routes:
    """Return the routes that switches have when BGP has converged, with their policies; of static routes that drop, no
    next hop. Raises LabError."""
    return {
        (name, str(prefix)): tuple(sorted(hop.interface for hop in hops))
        for routing in routings(by_vrf(read_view(files, cables)))
        for name, table in routing.tables.items()
        for prefix, hops in table.items()
    }
