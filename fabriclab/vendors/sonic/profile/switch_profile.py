"""A switch's buffers and QoS as a profile in the lab language, whatever its links are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.switch.port_keys import port_key
from fabriclab.vendors.common.port_settings import common_and_own
from fabriclab.vendors.common.profile_file import Profile
from fabriclab.vendors.common.sourced_values import joined
from fabriclab.vendors.sonic.profile.port_qos import PortResolver
from fabriclab.vendors.sonic.read.accounts import Accounts
from fabriclab.vendors.sonic.read.config_db import ConfigDb

_OF_A_PROFILE = (
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
    "PORT_QOS_MAP",
    "PFC_WD",
)
"""Tables that mean nothing without memory."""


def says_memory(config: ConfigDb, notes: dict[str, None]) -> bool:
    """Return whether a file says how large the switch's memory is; a virtual switch's default one does not,
    and has no profile then."""
    if config.pools:
        return True
    tables = config.json.value if config.json is not None and isinstance(config.json.value, dict) else {}
    idle = [table for table in _OF_A_PROFILE if tables.get(table)]
    also = f"; {joined(idle)} left out with it" if idle else ""
    notes[f"BUFFER_POOL is missing or empty: the switch gets no profile, but a separate buffer at each port{also}"] = (
        None
    )
    return False


def switch_profile(
    switch: str,
    config: ConfigDb,
    rates_bps: Mapping[str, int],
    cell: str | None,
    notes: dict[str, None],
    problems: Problems,
) -> Profile | None:
    """Return the profile of a switch of which these ports are in the lab, each with its speed.

    None after recording what it cannot say, and of a switch without a port in the lab, which has nothing to say.
    """
    ports = tuple(rates_bps)
    if not ports:
        return None
    found = Problems()  # this switch's alone: some are told only where nothing else is wrong
    accounts = Accounts(config, ports, found, notes)
    resolver = PortResolver(config, accounts, notes, found)
    pools = accounts.pools()
    settings = {port: resolver.resolve(port) for port in ports}
    problems.add_all(found)
    if found:
        return None
    common, classes = common_and_own(settings)
    rates, chip = set(rates_bps.values()), config.chip
    return Profile(
        title=f"{switch}, imported from SONiC",
        source=PurePath(config.file).name,
        bandwidth_bps=sum(rates_bps.values()) if len(rates) == 1 else None,
        port_rate_bps=min(rates) if len(rates) == 1 else None,
        pools=pools,
        settings=common,
        ports=tuple((port_key(one.ports, ports), one.settings) for one in classes),
        cell=cell or (f"{chip.cell_bytes} B" if chip.cell_bytes > 1 else None),
        slices=1 if chip.slices is None else chip.slices.count,
        hardware=chip.verdict,
    )
