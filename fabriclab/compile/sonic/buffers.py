"""BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE: the reverse of `fabriclab.lab.sonic.accounts`, where the counting is explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriclab.compile.sonic.tables import Names, Tables, index_keys
from fabriclab.lab.sonic.accounts import UNSHARED, Side
from fabriclab.plan.switch import Account, Lossless, Pool, Switch, SwitchPort


@dataclass(frozen=True)
class _Profile:
    """What makes two profiles one."""

    side: Side
    account: Account
    lossless: Lossless | None = None


@dataclass
class _Unshared:
    """The memory that queues or groups of one side have to themselves."""

    size_bytes: int = 0


@dataclass
class BufferTables:
    """Writes the buffer tables of one switch."""

    switch: Switch
    tables: Tables
    _names: Names[_Profile] = field(default_factory=Names)
    _users: dict[str, set[Side]] = field(default_factory=dict)
    _dynamic: set[str] = field(default_factory=set)
    _headroom: dict[str, int] = field(default_factory=dict)
    """Of each pool, what its groups have to themselves."""
    _unshared: dict[Side, int] = field(default_factory=dict)

    def write(self, ports: Mapping[str, SwitchPort], wishes: Mapping[str, str]) -> None:
        """Write all tables. `wishes` are names for the profiles of the ports' lossless groups, by port (SONiC's name)."""
        profiles: dict[str, dict[_Profile, list[int]]] = {}
        for name, port in ports.items():
            profiles[f"BUFFER_PG|{name}"] = self._gather(
                (group.index, _Profile("ingress", group.account, group.lossless)) for group in port.groups
            )
            profiles[f"BUFFER_QUEUE|{name}"] = self._gather((queue.index, _Profile("egress", queue.account)) for queue in port.queues)
        self._count(profiles)
        self._pools()
        for key, used in profiles.items():
            table, _, port_name = key.partition("|")
            for profile, numbers in used.items():
                pfc = ports[port_name].pfc
                lossless = set() if pfc is None else {ports[port_name].maps.priority_to_queue[priority] for priority in pfc.priorities}
                name = self._profile(profile, wishes[port_name], not lossless.isdisjoint(numbers))
                for numbers_key in index_keys(numbers):
                    self.tables.put(table, f"{port_name}|{numbers_key}", {"profile": name})
