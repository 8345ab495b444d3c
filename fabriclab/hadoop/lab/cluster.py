"""What a lab writes of a Hadoop cluster beside its jobs: hosts, blocks, properties; and what clusters of one lab must
not share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fabriclab.formats.plan.traffic import HadoopTraffic, Traffic
from fabriclab.hadoop.lab.keys import DISK_SIZE, PROPERTY
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.document import ScalarValue, must_be
from fabriclab.lab.reading.section import Section, value_of
from fabriclab.lab.traffic.programs import complain
from fabriclab.lab.traffic.scope import Scope
from fabriclab.units import format_size

_IDLE_KEY = "ipc.client.connection.maxidletime"


def read_disk_size(section: Section, block_bytes: int) -> int | None:
    """Return the size of a node's disk in bytes; None: nothing bounds it."""
    disk = section.read(DISK_SIZE)
    if disk is not None and disk.value < block_bytes:
        block = format_size(block_bytes)
        message = f"{shown(disk.text)} has no room for a block of {block}; write more, or a smaller block_size"
        disk.complain(section.problems, message)
    return value_of(disk)


def read_host(section: Section, key: str, scope: Scope) -> str | None:
    """Return the host of a key; None when it is absent or wrong, which is recorded."""
    hosts = scope.names.hosts

    def convert(text: str) -> str:
        if text not in hosts and scope.names.complete:
            raise ValueError(f"{shown(text)} is not a host; {did_you_mean(text, hosts)}")
        return text

    return value_of(section.convert(key, "a host's name", convert))


def read_settings(section: Section) -> tuple[tuple[str, str], ...]:
    """Return Hadoop's properties as the lab writes them."""
    settings = section.section("settings", None)
    found = []
    for name in () if settings is None else settings.names():
        assert settings is not None
        value = settings.get(name)
        if re.fullmatch(PROPERTY, name) is None:
            message = f"{shown(name)} is not a property of Hadoop, such as mapreduce.task.io.sort.mb"
            section.problems.add(settings.mapping.key_place(name), settings.path(name), message, name)
        elif isinstance(value, ScalarValue) and name == _IDLE_KEY and value.text.strip() == "0":
            settings.complain(
                name, "with 0 Hadoop polls without a pause, and virtual time stands still; write 1 or more"
            )
        elif isinstance(value, ScalarValue) and not value.is_null:
            found.append((name, value.text))
        elif value is not None:
            settings.complain(name, must_be("a value", value))
    return tuple(found)


def check_clusters(every: Sequence[Traffic], section: Section) -> None:
    """Record clients of jobs that have the name of another program, and nodes of two clusters, which would have the
    same ports and files."""
    clusters = [traffic for traffic in every if isinstance(traffic, HadoopTraffic)]
    names = Counter(program.name for traffic in every for program in traffic.programs())
    for cluster in clusters:
        for program in cluster.programs():
            if names[program.name] > 1:
                message = f"{shown(program.name)}, the client of a job, is the name of another program too"
                complain(section, cluster.name, "jobs", message)
    taken: dict[str, str] = {}
    for cluster in clusters:
        shared = sorted(cluster.program_nodes() & taken.keys())
        if shared:
            message = f"{shared[0]} belongs to {taken[shared[0]]} already; a node belongs to one cluster"
            complain(section, cluster.name, "namenode", message)
        taken |= dict.fromkeys(cluster.program_nodes(), cluster.name)
