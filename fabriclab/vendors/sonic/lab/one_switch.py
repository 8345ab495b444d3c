"""From a config_db.json to a lab: profile, topology and experiment, with what was taken, what was not, and why."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.keys.wording import listed
from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.common.profile_file import profile_text
from fabriclab.vendors.sonic.lab.files import experiment_text, topology_text
from fabriclab.vendors.sonic.profile.switch_profile import says_memory, switch_profile
from fabriclab.vendors.sonic.read.config_db import ConfigDb, LeftOut
from fabriclab.vendors.sonic.read.interface_names import table_of
from fabriclab.vendors.sonic.read.neighbours import LabGroups, LabLink, LinkResolver, node_name


@dataclass(frozen=True)
class ImportedLab:
    """A lab made of a switch's configuration."""

    name: str
    files: dict[str, str]
    """Text by the file's name."""
    links: tuple[LabLink, ...]
    groups: LabGroups
    """The VLANs and port channels of these links."""
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def import_lab(config: ConfigDb, name: str | None = None, cell: str | None = None) -> ImportedLab:
    """Return the lab of a switch. Raises LabError for what a lab cannot say: nothing is bent.

    `name` is the switch's in the lab, by default its hostname; `cell` the size of a memory cell (`256 B`), of which
    CONFIG_DB says nothing.
    """
    problems, notes = (
        Problems(),
        dict.fromkeys((*config.notes, *config.static_route_notes, *config.adaptive_routing.notes)),
    )
    switch = node_name(config, name)
    resolver = LinkResolver(config, switch, notes, problems)
    links = resolver.links()
    rates = {link.interface: link.rate_bps for link in links}
    if config.static_routes:
        left_out = f"{config.static_routes[0].place}: STATIC_ROUTE: {len(config.static_routes)} route(s) left out"
        why = (
            "a lab made from one file gets its routes from its topology; a node of kind sonic-vs that is bound to "
            "the file has these routes"
        )
        notes[f"{left_out}: {why}"] = None
    if bound := [name for names in config.vrfs.values() for name in names]:
        place = config.place(table_of(bound[0]), bound[0], "vrf_name")
        why = "a lab made from one file has the default VRF only; that of several files has each VRF"
        notes[f"{place}: in {listed(vrf for vrf, names in config.vrfs.items() if names)}: {listed(bound)}; {why}"] = (
            None
        )
    has_memory = says_memory(config, notes)
    profile = switch_profile(switch, config, rates, cell, notes, problems) if has_memory else None
    problems.raise_if_any()
    groups = resolver.groups(links)
    files = {
        topology.FILE_NAME: topology_text(switch, config, links, notes),
        experiment.FILE_NAME: experiment_text(
            switch, config, links, groups, has_profile=profile is not None, notes=notes
        ),
    }
    if profile is not None:
        files[f"{switch}.yml"] = profile_text(profile)
    return ImportedLab(switch, files, links, groups, tuple(notes), config.left_out)
