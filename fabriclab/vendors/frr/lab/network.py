"""From the configurations of a network's routers to a lab in which each of them runs its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.keys.wording import listed
from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.frr.lab.checks import Checks
from fabriclab.vendors.frr.lab.devices import lacking_address, vrfs_of
from fabriclab.vendors.frr.lab.files import (
    DAEMONS,
    DELAY,
    RATE,
    Parts,
    asked,
    bound_file,
    daemons_text,
    experiment_text,
    frr_conf,
    topology_text,
)
from fabriclab.vendors.frr.lab.hosts import Host, HostFinder, filtering, unannounced
from fabriclab.vendors.frr.lab.kernel_facts import take_kernel_facts
from fabriclab.vendors.frr.lab.links import Link, LinkFinder, Segment
from fabriclab.vendors.frr.lab.router_files import files_of_links
from fabriclab.vendors.frr.lab.routers import End, Routers, is_management, read_routers
from fabriclab.vendors.frr.lab.said_links import read_said


@dataclass(frozen=True)
class ImportedNetwork:
    """A lab made of the configurations of several routers."""

    name: str
    files: Mapping[str, bytes]
    """What each file holds, by its name."""
    sources: Mapping[str, str]
    """The file that was given, by the name of its copy."""
    routers: tuple[str, ...]
    links: tuple[Link, ...]
    segments: tuple[Segment, ...]
    hosts: tuple[Host, ...]
    notes: tuple[str, ...]
    kept: tuple[str, ...]
    """What no lab is made of, and FRR takes as it is; a few words each."""


def import_network(
    paths: Sequence[Path], name: str, links: Sequence[Path] = (), rate: str | None = None, delay: str | None = None
) -> ImportedNetwork:
    """Return the lab of routers' configurations, files or directories of them.

    `links` are files that say who is joined to whom, `rate` and `delay` those of links of which nothing is said. Raises
    LabError with all that is wrong in the files, and between them.
    """
    problems, notes = Problems(), dict[str, None]()
    routers = read_routers(paths, notes, problems)
    problems.raise_if_any()
    take_kernel_facts(paths, routers, problems)
    said = read_said([*files_of_links(paths), *links], routers, problems)
    for end, vrf in said.vrfs.items():
        routers[end.node].config.interfaces[end.interface].vrf = vrf
    problems.raise_if_any()
    finder = LinkFinder(routers, said, notes, problems)
    finder.find()
    between = [link for link in finder.links if all(end.node in routers for end in link.ends)]
    Checks(routers, between, notes).check()
    hosts = HostFinder(routers, finder, notes).hosts()
    _note_routers(routers, finder, hosts, notes)
    silent = [host.name for host in hosts if host not in asked(hosts, routers)]
    if silent:
        notes[
            f"these hosts have no traffic, because their routers do not announce their networks: {listed(silent)}"
        ] = None
    vrfs = {host.name: host.vrf or "the default one" for host in asked(hosts, routers)}
    if len(vrfs) == len({*vrfs.values()}) > 1:
        each = listed([f"{name} in {vrf}" for name, vrf in vrfs.items()])
        notes[f"each host is in a VRF of its own, so hosts get no answers unless the VRFs leak routes: {each}"] = None
    _check_whole(routers, finder, problems)
    problems.raise_if_any()
    segments = {_free(f"lan{number}", routers): one for number, one in enumerate(finder.segments, 1)}
    parts = Parts(name, routers, between, segments, hosts, rate or RATE, delay or DELAY)
    return ImportedNetwork(
        name=name,
        files={
            topology.FILE_NAME: topology_text(parts).encode(),
            experiment.FILE_NAME: experiment_text(parts).encode(),
            DAEMONS: daemons_text(routers).encode(),
            **{bound_file(router.name): frr_conf(router, parts.hosts_of(router.name)) for router in routers.values()},
        },
        sources={bound_file(router.name): router.config.file for router in routers.values()},
        routers=tuple(routers),
        links=tuple(between),
        segments=tuple(finder.segments),
        hosts=tuple(hosts),
        notes=tuple(notes),
        kept=tuple(_kept(routers)),
    )


def _free(name: str, routers: Routers) -> str:
    while name in routers:
        name += "-lan"
    return name


def _note_routers(routers: Routers, finder: LinkFinder, hosts: Sequence[Host], notes: dict[str, None]) -> None:
    linked = {end for link in finder.links for end in link.ends}
    for router in routers.values():
        managed = [one.name for one in router.config.interfaces.values() if router.is_management(one)]
        if managed:
            notes[f"{router.name}: management interfaces, left out: {listed(managed)}"] = None
        idle = [name for name in router.idle() if End(router.name, name) not in linked]
        if idle:
            notes[f"{router.name}: interfaces with neither an address nor a protocol, left out: {listed(idle)}"] = None
        _note_vrfs(routers, router.name, notes)
        if lacking_address(router) is not None:
            notes[
                f"{router.name}: no interface has an address in the file, so only the kernel knew the addresses; lo "
                f"gets {lacking_address(router)}, BGP's router-id"
            ] = None
        parents = [one.name for one in router.ports() if "." in one.name]
        if parents:
            notes[
                f"{router.name}: each of these becomes a separate link, not a VLAN of a shared link: {listed(parents)}"
            ] = None
        for unknown in router.config.unknown:
            where = router.config.place(unknown.line)
            notes[f"{where}: {unknown.text[:60]!r} is not a command known here; kept as it is"] = None
    _note_made_up(routers, [host for host in hosts if host.is_made_up], notes)


def _note_made_up(routers: Routers, hosts: Sequence[Host], notes: dict[str, None]) -> None:
    """Note the hosts in networks of no file, and what keeps others from learning of these networks."""
    if not hosts:
        return
    silent = {host.name: why for host in hosts if (why := unannounced(host, routers))}
    told = [host.name for host in hosts if host.name not in silent]
    announced = "lines at the end of their routers' frr.conf announce their networks"
    notes[
        f"added, because too few networks have room for a host: {listed([host.name for host in hosts])}"
        + (f"; {announced}" if not silent else f"; {listed(told)}: {announced}" if told else "")
    ] = None
    for name, why in silent.items():
        notes[f"no host behind another router reaches {name}: {why}, so no other router learns of its network"] = None
    if told and len(routers) > 1 and (policies := filtering(routers)):
        notes[
            f"the policies of {listed(policies)} do not know the networks that were added: if they filter these, no "
            "host reaches the added hosts"
        ] = None


def _note_vrfs(routers: Routers, name: str, notes: dict[str, None]) -> None:
    """Note what frr.conf does not say of VRFs and EVPN: both are the kernel's."""
    router = routers[name]
    vrfs = [vrf for vrf in vrfs_of(router) if not is_management(vrf)]
    own = [one.name for one in router.ports() if router.vrf_of(one.name) is not None]
    if vrfs and any(one.vrf is None for one in router.ports()):
        into = listed(f"{port} in {router.vrf_of(port)}" for port in own) or "none is in any"
        notes[
            f"{name}: VRFs {listed(vrfs)}; frr.conf does not assign interfaces to them, so sessions and routes were "
            f"used: {into} (to correct this, write a line such as {name}:eth1 vrf {vrfs[0]} in --links FILE)"
        ] = None
    if router.config.is_vtep:
        with_vni = [one.name for one in router.config.vrfs.values() if one.vni is not None]
        notes[
            f"{name}: frr.conf does not contain EVPN's VXLAN devices, which only the kernel knew: they were made for "
            f"the VNIs of VRFs ({listed(with_vni) or 'there are none'}), not for those of bridges"
        ] = None


def _check_whole(routers: Routers, finder: LinkFinder, problems: Problems) -> None:
    """Every router is joined to the others."""
    neighbours: dict[str, set[str]] = {name: set() for name in routers}
    groups = [[end.node for end in link.ends] for link in finder.links]
    groups += [[end.node for end in segment.ends] for segment in finder.segments]
    for group in groups:
        for node in group:
            neighbours.setdefault(node, set()).update(group)
    reached, frontier = dict.fromkeys([*routers][:1]), [*routers][:1]
    while frontier:
        new = [name for name in sorted(neighbours[frontier.pop()]) if name not in reached]
        reached.update(dict.fromkeys(new))
        frontier += new
    for router in routers.values():
        if router.name not in reached and not problems:
            message = (
                f"no link to {listed(reached)} was found: there is neither a common network nor a description of an "
                f"unnumbered interface; write a line such as {router.name}:eth1 {next(iter(reached))}:eth1 in "
                "--links FILE, or leave the file out"
            )
            problems.add(router.config.place(None), router.name, message)


def _kept(routers: Routers) -> Iterator[str]:
    """Yield what FRR takes as it is, with its number over all files."""
    counts: dict[str, int] = {}
    for router in routers.values():
        for head, count in router.config.kept.items():
            counts[head] = counts.get(head, 0) + count
    yield from (f"{head} ({count})" for head, count in counts.items())
