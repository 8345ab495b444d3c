"""What `fabriclab sonic diff` does: compares two versions of a fabric, switch by switch, and the routes of both."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from fabriclab.cli.host.failure import FAILED, OK, BadInputError
from fabriclab.cli.text.junit import write_junit
from fabriclab.files import write_all
from fabriclab.keys.wording import listed
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.units import format_count
from fabriclab.vendors.sonic.commands.diff import Difference, diff_document, diff_text, difference
from fabriclab.vendors.sonic.commands.findings_text import junit_cases
from fabriclab.vendors.sonic.commands.import_fabric import given
from fabriclab.vendors.sonic.commands.sarif import as_sarif
from fabriclab.vendors.sonic.fabric import FabricJudgement, judge_files
from fabriclab.vendors.sonic.judge import RULES, Judgement, judge_config_db
from fabriclab.vendors.sonic.judge.check import with_more
from fabriclab.vendors.sonic.lab import import_fabric
from fabriclab.vendors.sonic.lab.cabling import Cable, read_cabling
from fabriclab.vendors.sonic.read import examine_config_db, read_bytes

FORMAT = "fabriclab-sonic-fabric-diff-1"
FailOn = Literal["error", "warning", "lost-route", "change", "never"]
_SUITE = "fabriclab sonic diff"
_MOST_SHOWN = 20
_Routes = Mapping[tuple[str, str], tuple[str, ...]]
"""The interfaces of the next hops, by switch and prefix."""


@dataclass(frozen=True)
class Outputs:
    """How the difference is told, and what is a failure."""

    fail_on: FailOn
    output: Literal["text", "json", "sarif"]
    junit: Path | None
    sarif: Path | None


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


def diff(old: Path, new: Path, cables: Sequence[Path], outputs: Outputs) -> int:
    """Compare two fabrics, tell the difference, and return the exit status by what is to fail."""
    one = fabric_difference(given([old]), given([new]), read_cabling(cables))
    failing = ("error", "warning") if outputs.fail_on == "warning" else ("error",)
    texts = {
        "text": lambda: "".join(f"{line}\n" for line in _lines(one)),
        "json": lambda: json.dumps(_document(one), indent=2) + "\n",
        "sarif": lambda: as_sarif(one.judgements),
    }
    sys.stdout.write(texts[outputs.output]())
    if outputs.junit is not None:
        together = FabricJudgement("", was_judged=True) if len(one.judgements) > 1 else None
        write_junit(outputs.junit, _SUITE, junit_cases(one.judgements, tuple(RULES.values()), failing, together))
    if outputs.sarif is not None:
        write_all({outputs.sarif: as_sarif(one.judgements)})
    if outputs.fail_on == "never":
        return OK
    if outputs.fail_on == "change":
        return FAILED if one.is_any else OK
    if outputs.fail_on == "lost-route" and one.has_lost_routes:
        return FAILED
    return FAILED if any(found.severity in failing for each in one.judgements for found in each.findings) else OK


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
        switches[name] = difference(files, data, found, None)
    routes, why = _route_changes(old, new, cables)
    return FabricDifference(
        switches=switches,
        added={name: judged[1][str(file)] for name, file in after.items() if name not in before},
        removed=tuple(name for name in before if name not in after),
        routes=routes,
        not_routed=why,
    )


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
    """Return the routes that switches have when BGP has converged, with their policies. Raises LabError."""
    fabric = import_fabric(files, "fabric", cables=cables)
    with TemporaryDirectory(prefix="fabriclab-diff-") as scratch:
        lab = Path(scratch)
        write_all({lab / name: data for name, data in fabric.files.items()})
        plan = resolve_plan(parse_lab(lab), {})
    return {
        (node.name, route.destination): tuple(sorted(interface for _, interface in route.next_hops))
        for node in plan.nodes
        if node.role == "switch"
        for route in node.routes
    }


def _lines(one: FabricDifference) -> Iterator[str]:
    changed = {name: each for name, each in one.switches.items() if each.changes or each.new.findings or each.gone}
    yield f"{format_count(len(one.switches), 'switch')} in both versions, {len(changed)} of them differ"
    yield from (f"added: {name} ({format_count(len(each.findings), 'finding')})" for name, each in one.added.items())
    yield from (f"removed: {name}" for name in one.removed)
    for each in changed.values():
        yield ""
        yield from diff_text(each).rstrip("\n").splitlines()
    yield ""
    if one.not_routed:
        yield one.not_routed
        return
    yield f"routes: {format_count(len(one.routes), 'change')}"
    for change in one.routes[:_MOST_SHOWN]:
        yield f"  {change.switch} to {change.prefix}: {_hops(change.old)} -> {_hops(change.new)}"
    if len(one.routes) > _MOST_SHOWN:
        yield f"  and {len(one.routes) - _MOST_SHOWN} more (--format json has all)"


def _hops(interfaces: Sequence[str]) -> str:
    return listed(interfaces) if interfaces else "no route"


def _document(one: FabricDifference) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "switches": {name: diff_document(each) for name, each in one.switches.items()},
        "added": {name: diff_document(_appeared(each))["new_findings"] for name, each in one.added.items()},
        "removed": list(one.removed),
        "routes": [
            {"switch": each.switch, "prefix": each.prefix, "old": list(each.old), "new": list(each.new)}
            for each in one.routes
        ],
        "routes_not_compared": one.not_routed,
    }


def _appeared(judgement: Judgement) -> Difference:
    return Difference("", (), "", replace(judgement), ())
