"""From the config_db.json of several switches to a lab: each switch is its file,
and the links are found in what the files say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabriclab.formats.family import Family
from fabriclab.keys.wording import listed
from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.sonic.lab import vrf_files
from fabriclab.vendors.sonic.lab.cabling import Cable
from fabriclab.vendors.sonic.lab.fabric_checks import FabricChecks
from fabriclab.vendors.sonic.lab.fabric_files import (
    INCAST,
    bound_file,
    experiment_text,
    hosts_of,
    incast_line,
    link_name,
    topology_text,
)
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink, LinkFinder
from fabriclab.vendors.sonic.lab.fabric_stubs import Missing, Stub, StubFinder, StubLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch, read_fabric
from fabriclab.vendors.sonic.lab.laid_cables import laid_cables
from fabriclab.vendors.sonic.lab.vrf_edge import Edge
from fabriclab.vendors.sonic.profile.switch_profile import says_memory, switch_profile
from fabriclab.vendors.sonic.read.config_db import ConfigDb, LeftOut
from fabriclab.vendors.sonic.read.families import lab_families
from fabriclab.vendors.sonic.vrf.rendered import is_of_routing, without_rendered

_BITS_A_MBIT = 10**6


@dataclass(frozen=True)
class ImportedFabric:
    """A lab made of the configurations of several switches."""

    name: str
    files: Mapping[str, bytes]
    """What each file holds, by its name."""
    sources: Mapping[str, str]
    """The file that was given, by the name of its copy."""
    switches: tuple[str, ...]
    links: tuple[FabricLink, ...]
    stubs: tuple[Stub, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    def with_incast(self, receiver: str, senders: Sequence[str]) -> ImportedFabric:
        """Return the lab with other hosts in its in-cast."""
        lines = self.files[experiment.FILE_NAME].decode().splitlines()
        changed = [incast_line(receiver, senders) if line.startswith(f"  {INCAST}:") else line for line in lines]
        text = "".join(f"{line}\n" for line in changed)
        return replace(self, files={**self.files, experiment.FILE_NAME: text.encode()})


def import_fabric(
    paths: Sequence[Path],
    name: str,
    cell: str | None = None,
    missing: Missing = "hosts",
    cables: Sequence[Cable] = (),
) -> ImportedFabric:
    """Return the lab of several config_db.json. Raises LabError with all that is wrong in them, and between them.

    `cell` is the size of a memory cell (`256 B`), of which CONFIG_DB says nothing; `missing` what becomes of a switch
    without a file; `cables` those that are known from elsewhere.
    """
    problems, notes = Problems(), dict[str, None]()
    fabric = read_fabric(paths, problems)
    problems.raise_if_any()
    laid = laid_cables(fabric, cables, notes)
    finder = LinkFinder(fabric, notes, problems, laid)
    links = finder.links()
    FabricChecks(fabric, links, finder.down, notes, problems).check()
    stub_finder = StubFinder(fabric, (*links, *finder.down), missing, notes, problems, laid)
    stubs = _nameable(stub_finder.stubs(), notes)
    for link in links:
        _check_names(link, fabric, problems)
    _check_whole(fabric, links, stubs, problems)
    families = _families(fabric, stubs)
    _note_switches(fabric, links, stubs, families, notes, problems)
    problems.raise_if_any()
    return ImportedFabric(
        name=name,
        files={
            **_texts(name, fabric, links, stubs, families, cell, notes),
            **{bound_file(switch.name): switch.data for switch in fabric.switches.values()},
        },
        sources={bound_file(switch.name): switch.config.file for switch in fabric.switches.values()},
        switches=tuple(fabric.switches),
        links=links,
        stubs=stubs,
        notes=tuple(notes),
        left_out=_left_out(fabric),
    )


def _texts(
    name: str,
    fabric: Fabric,
    links: Sequence[FabricLink],
    stubs: Sequence[Stub],
    families: Sequence[Family],
    cell: str | None,
    notes: dict[str, None],
) -> dict[str, bytes]:
    """Return the lab's own files, and of a fabric with VRFs those of neighbours without a file."""
    if not has_vrfs(fabric):
        return {
            topology.FILE_NAME: topology_text(name, fabric, links, stubs, families).encode(),
            experiment.FILE_NAME: experiment_text(name, fabric, stubs, cell).encode(),
        }
    edge = Edge(fabric, stubs, notes)
    confs = {vrf_files.conf_file(one.name): vrf_files.router_conf(one).encode() for one in edge.routers}
    return {
        topology.FILE_NAME: vrf_files.topology_text(name, fabric, links, edge).encode(),
        experiment.FILE_NAME: vrf_files.experiment_text(name, fabric, edge, cell).encode(),
        **confs,
        **({vrf_files.DAEMONS: b"bgpd=yes\n"} if confs else {}),
    }


def has_vrfs(fabric: Fabric) -> bool:
    """Return whether any switch has an interface in a VRF of its file."""
    return any(any(switch.config.vrfs.values()) for switch in fabric.switches.values())


def _families(fabric: Fabric, stubs: Sequence[Stub]) -> tuple[Family, ...]:
    """Return the families of addresses that the lab has."""
    ends = [link.end for stub in stubs if stub.role == "host" for link in stub.links]
    configs = {name: switch.config for name, switch in fabric.switches.items()}
    return lab_families(configs.values(), [(configs[end.switch], end.port) for end in ends])


def _nameable(stubs: Iterable[Stub], notes: dict[str, None]) -> tuple[Stub, ...]:
    """Return the stubs at ports that Containerlab has a name for; note the others."""

    def keep(link: StubLink) -> bool:
        if link_name(link.end.port) is None:
            notes[
                f"{link.end}: left out, because a sonic-vs of Containerlab has only Ethernet0, Ethernet4 and so on, "
                "four lanes apart"
            ] = None
            return False
        return True

    kept = (replace(stub, links=tuple(filter(keep, stub.links))) for stub in stubs)
    return tuple(stub for stub in kept if stub.links)


def _check_names(link: FabricLink, fabric: Fabric, problems: Problems) -> None:
    for end in link.ends:
        if link_name(end.port) is None:
            message = (
                "leads to another switch, but a sonic-vs of Containerlab has only Ethernet0, Ethernet4 and so on, "
                "four lanes apart"
            )
            fabric.switches[end.switch].config.complain(problems, ("PORT", end.port), message, end.port)


def _check_whole(fabric: Fabric, links: Sequence[FabricLink], stubs: Sequence[Stub], problems: Problems) -> None:
    """Every switch is joined to the others, and there are hosts."""
    reached = _reached(fabric, links, stubs)
    for switch in fabric.switches.values():
        if switch.name not in reached and not problems:
            message = (
                f"no link to {listed(reached)} was found; write DEVICE_NEIGHBOR, addresses of one /31, "
                "or BGP_NEIGHBOR in both files, give --cables, or leave the file out"
            )
            problems.add(Place(switch.config.file), switch.name, message)
    hosts = hosts_of(stubs)
    if len(hosts) < 2 and not problems:
        first = next(iter(fabric.switches.values())).config.file
        message = (
            f"{len(hosts)} host(s) behind the ports of all files; traffic needs two (DEVICE_NEIGHBOR, VLAN_MEMBER, "
            "INTERFACE)"
        )
        problems.add(Place(first), "", message)


def _reached(fabric: Fabric, links: Sequence[FabricLink], stubs: Sequence[Stub]) -> list[str]:
    """Return the switches that the first one reaches, through stubs that are switches too."""
    groups = [[end.switch for end in link.ends] for link in links]
    groups += [[link.end.switch for link in stub.links] for stub in stubs if stub.role == "switch"]
    neighbours: dict[str, list[str]] = {name: [] for name in fabric.switches}
    for group in groups:
        for name in group:
            neighbours[name] += group
    reached = dict.fromkeys([*fabric.switches][:1])
    frontier = [*reached]
    while frontier:
        new = [name for name in dict.fromkeys(neighbours[frontier.pop()]) if name not in reached]
        reached.update(dict.fromkeys(new))
        frontier += new
    return [*reached]


def _note_switches(
    fabric: Fabric,
    links: Sequence[FabricLink],
    stubs: Sequence[Stub],
    families: Sequence[Family],
    notes: dict[str, None],
    problems: Problems,
) -> None:
    """Note what is worth a sentence in each file, once for the switches of which it is true;
    record what their memory cannot be."""
    ends = [*(end for link in links for end in link.ends), *(link.end for stub in stubs for link in stub.links)]
    switches_of: dict[str, list[str]] = {}
    for switch in fabric.switches.values():
        found = dict.fromkeys(_notes(switch.config, families))
        if has_vrfs(fabric):
            found = dict.fromkeys(note for note in found if not is_of_routing(note))
        if (rates := _rates(switch, ends)) and says_memory(switch.config, found):
            switch_profile(switch.name, switch.config, rates, None, found, problems)
        _note_networks(switch, stubs, found)
        for note in found:
            switches_of.setdefault(note, []).append(switch.name)
    notes.update(dict.fromkeys(f"{note} ({listed(switches)})" for note, switches in switches_of.items()))


def _notes(config: ConfigDb, families: Sequence[Family]) -> Iterator[str]:
    """Yield the notes of a file that are true of a lab with these families."""
    for note in config.notes:
        if note not in config.of_one_family:
            yield note
        elif len(families) == 1:
            yield config.of_one_family[note] if families == (4,) else note


def _rates(switch: FabricSwitch, ends: Iterable[End]) -> dict[str, int]:
    used = {end.port for end in ends if end.switch == switch.name}
    return {
        port: (switch.config.ports[port].speed_mbps or 1) * _BITS_A_MBIT for port in switch.config.ports if port in used
    }


def _note_networks(switch: FabricSwitch, stubs: Sequence[Stub], notes: dict[str, None]) -> None:
    """Note hosts behind routed ports of a switch that announces its loopback and VLANs only."""
    config = switch.config
    if config.frrcfgd or not any(True for _ in switch.sessions()):
        return
    behind = [
        link.end.port for stub in stubs if stub.role == "host" for link in stub.links if link.end.switch == switch.name
    ]
    if any(switch.interface_of(port) is not None for port in behind):
        notes[
            "bgpcfgd announces only Loopback0 and the networks of VLANs: other switches do not reach hosts behind "
            "routed ports"
        ] = None


def _left_out(fabric: Fabric) -> tuple[LeftOut, ...]:
    """Return what no switch of the lab has, the entries of all files together."""
    entries: dict[tuple[str, str], int] = {}
    for switch in fabric.switches.values():
        for one in switch.config.left_out:
            entries[one.what, one.why] = entries.get((one.what, one.why), 0) + one.entries
    every = (LeftOut(what, count, why) for (what, why), count in entries.items())
    return tuple(without_rendered(every) if has_vrfs(fabric) else every)
