"""What a config_db.json binds to each port: queues, priority groups, maps, by number.

The first of two that overlap holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from fabriclab.formats.classes import QUEUES
from fabriclab.vendors.sonic.read.config_db import (
    BufferBinding,
    BufferProfile,
    ConfigDb,
    PortQosMap,
    QueueBinding,
    Scheduler,
    WredProfile,
)

B = TypeVar("B", BufferBinding, QueueBinding)
GLOBAL = "global"


class Bindings:
    """The bindings of one switch, looked up by port and number."""

    def __init__(self, config: ConfigDb) -> None:
        """Sort them by port."""
        self.config = config
        self.groups = _by_port(config.buffer_pgs)
        self.buffers = _by_port(config.buffer_queues)
        self.queues = _by_port(config.queues)

    def group_profile(self, port: str, index: int) -> BufferProfile | None:
        """Return the profile of a priority group; None: none, or one that SONiC computes."""
        return self._profile(self.groups.get(port, {}).get(index))

    def queue_profile(self, port: str, index: int) -> BufferProfile | None:
        """Return the buffer profile of a queue."""
        return self._profile(self.buffers.get(port, {}).get(index))

    def _profile(self, binding: BufferBinding | None) -> BufferProfile | None:
        return None if binding is None or binding.profile is None else self.config.profiles[binding.profile]

    def scheduler(self, port: str, index: int) -> Scheduler | None:
        """Return the scheduler of a queue."""
        binding = self.queues.get(port, {}).get(index)
        return None if binding is None or binding.scheduler is None else self.config.schedulers[binding.scheduler]

    def wred(self, port: str, index: int) -> WredProfile | None:
        """Return the WRED profile of a queue, enabled or not."""
        binding = self.queues.get(port, {}).get(index)
        return (
            None if binding is None or binding.wred_profile is None else self.config.wred_profiles[binding.wred_profile]
        )

    def qos(self, port: str) -> PortQosMap | None:
        """Return PORT_QOS_MAP of a port, else the global one."""
        return self.config.port_qos.get(port) or self.config.port_qos.get(GLOBAL)

    def map_holder(self, port: str, field: str) -> PortQosMap | None:
        """Return the entry of PORT_QOS_MAP that names a map for a port: its own, else the global one."""
        entries = (self.config.port_qos.get(key) for key in (port, GLOBAL))
        return next((entry for entry in entries if entry is not None and field in entry.maps), None)


def _by_port(bindings: Iterable[B]) -> Mapping[str, Mapping[int, B]]:
    by_port: dict[str, dict[int, B]] = {}
    for binding in bindings:
        for port in binding.ports:
            known = by_port.setdefault(port, {})
            for index in binding.indices:
                if index < QUEUES:
                    known.setdefault(index, binding)
    return by_port
