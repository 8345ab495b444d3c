"""Switches of a lab in which any has VRFs: FRR runs the configuration that SONiC makes of the file, so that routes of
every VRF are those of the daemons, and what it has of them acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabriclab.lab.network.layer2 import WrittenLayer2
from fabriclab.lab.network.own_configuration import OwnConfiguration
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.vrf_tables import ONLY_DEFAULT
from fabriclab.vendors.sonic.vrf.rendered import left_to_tell
from fabriclab.vendors.sonic.vrf.setup import vrf_setup


def with_vrfs(own: OwnConfiguration, name: str, config: ConfigDb, ports: Sequence[str]) -> OwnConfiguration:
    """Return a switch's configuration with FRR's own. `ports`: those that have a link."""
    return replace(
        own,
        setup=vrf_setup(name, config, ports),
        sessions=(),
        networks=(),
        announcements=(),
        policies=None,
        policies6=None,
        static_routes=(),
        layer2=WrittenLayer2(),
        not_emulated=tuple(left_to_tell(config, own.not_emulated)),
        notes=tuple(note for note in own.notes if not note.endswith(ONLY_DEFAULT)),
    )
