"""Judging the files of several switches together: as far as links between them are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabriclab.keys.wording import listed
from fabriclab.lab.reading.problems import Mistake, Problems
from fabriclab.units import format_count
from fabriclab.vendors.sonic.fabric.judge import judge_fabric, told
from fabriclab.vendors.sonic.fabric.routing import routes_ipv6
from fabriclab.vendors.sonic.fabric.view import View
from fabriclab.vendors.sonic.judge import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.lab.cabling import Cable
from fabriclab.vendors.sonic.lab.fabric_links import LinkFinder
from fabriclab.vendors.sonic.lab.fabric_switches import read_fabric
from fabriclab.vendors.sonic.lab.laid_cables import laid_cables

_HOSTNAME = "DEVICE_METADATA|localhost|hostname"


@dataclass(frozen=True)
class FabricJudgement:
    """What was found between files."""

    sentence: str
    """How many switches and links were judged together, or why none."""
    was_judged: bool
    findings: Mapping[str, tuple[SonicFinding, ...]] = field(default_factory=dict)
    """By file."""


def judge_files(paths: Sequence[Path], unsound: Collection[str], cables: Sequence[Cable] = ()) -> FabricJudgement:
    """Return what is wrong between the files of several switches. `unsound`: files whose tables of QoS are malformed,
    of which only ports, addresses and sessions are compared. `cables`: those that are known from elsewhere.

    Raises LabError for cables that contradict each other, or name a port that there is not.
    """
    problems = Problems()
    fabric = read_fabric(paths, problems)
    names = Counter(switch.name.lower() for switch in fabric.switches.values())
    if len(fabric.switches) < len(paths) or max(names.values(), default=0) > 1:
        kept = [switch.config.file for switch in fabric.switches.values()]
        alike = {one.file: (_alike(one),) for one in problems.found() if one.key == _HOSTNAME}
        return FabricJudgement(_why_not(paths, kept), False, alike)
    problems = Problems()
    finder = LinkFinder(fabric, {}, problems, laid_cables(fabric, cables, {}))
    links = finder.links()
    if not links and not finder.down and not problems:
        text = (
            "no link between these files was found (DEVICE_NEIGHBOR, addresses, BGP_NEIGHBOR): each was judged alone; "
            "--cables gives links"
        )
        return FabricJudgement(text, False)
    bad = frozenset(switch.name for switch in fabric.switches.values() if switch.config.file in unsound)
    found = [*told("link-found", problems, fabric), *judge_fabric(fabric, links, finder.down, bad)]
    by_file = {
        switch.config.file: tuple(each.found for each in found if each.switch == switch.name)
        for switch in fabric.switches.values()
    }
    switches, joined = format_count(len(fabric.switches), "switch"), format_count(len(links), "link")
    view = View(fabric, links)
    is_silent = view.hosts6 and not routes_ipv6(view)
    networks = format_count(len(view.hosts6), "network")
    of_ipv6 = f"; routes of IPv6 were not judged ({networks} of hosts, no session carries them)" if is_silent else ""
    return FabricJudgement(f"judged together: {switches}, {joined} between them{of_ipv6}", True, by_file)


def _alike(problem: Mistake) -> SonicFinding:
    bound, _, remedy = problem.message.rpartition("; ")
    fate = "nobody can tell the switches apart, so that these files are not judged together"
    one = finding("hostname-twice", tuple(_HOSTNAME.split("|")), None, bound, fate, remedy)
    return replace(one, line=problem.line)


def _why_not(paths: Sequence[Path], kept: Collection[str]) -> str:
    left = [str(path) for path in paths if str(path) not in kept]
    return f"the files were not judged together: {listed(left[:3])} cannot be read, or has the hostname of another file"
