"""From a config_db.json to a lab: profile, topology and experiment, with what was taken, what was not, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from fabriclab.lab import experiment, topology
from fabriclab.lab.problems import Problems
from fabriclab.lab.sonic.accounts import Accounts
from fabriclab.lab.sonic.config_db import ConfigDb, LeftOut
from fabriclab.lab.sonic.lab_files import experiment_text, topology_text
from fabriclab.lab.sonic.neighbours import LabLink, LinkResolver, node_name
from fabriclab.lab.sonic.port_classes import common_and_own
from fabriclab.lab.sonic.port_qos import PortResolver
from fabriclab.lab.sonic.profile_file import Profile, profile_text
from fabriclab.lab.switch.port_keys import port_key


@dataclass(frozen=True)
class ImportedLab:
    """A lab made of a switch's configuration."""

    name: str
    files: dict[str, str]
    """Text by the file's name."""
    links: tuple[LabLink, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def import_lab(config: ConfigDb, name: str | None = None, cell: str | None = None) -> ImportedLab:
    """Return the lab of a switch. Raises LabErrors for what a lab cannot say: nothing is bent.

    `name` is the switch's in the lab, by default its hostname; `cell` the size of a memory cell (`256 B`), of which CONFIG_DB says nothing.
    """
    problems, notes = Problems(), dict.fromkeys(config.notes)
    switch = node_name(config, name)
    resolver = LinkResolver(config, switch, notes, problems)
    links = resolver.links()
    ports = tuple(link.interface for link in links)
    accounts = Accounts(config, ports, problems)
    port_resolver = PortResolver(config, accounts, notes, problems)
    pools = accounts.pools()
    settings = {port: port_resolver.resolve(port) for port in ports}
    problems.raise_if_any()
    common, classes = common_and_own(settings)
    rates = {link.rate_bps for link in links}
    profile = Profile(
        title=f"{switch}, imported from SONiC",
        source=PurePath(config.file).name,
        bandwidth_bps=sum(link.rate_bps for link in links) if len(rates) == 1 else None,
        port_rate_bps=min(rates) if len(rates) == 1 else None,
        pools=pools,
        settings=common,
        ports=tuple((port_key(one.ports, ports), one.settings) for one in classes),
        cell=cell,
    )
    files = {
        topology.FILE_NAME: topology_text(switch, config, links, notes),
        experiment.FILE_NAME: experiment_text(switch, config, links, notes),
        f"{switch}.yml": profile_text(profile),
    }
    return ImportedLab(switch, files, links, tuple(notes), config.left_out)
