"""From the QoS part of an EOS configuration to a switch profile: the memory of a chip,
with what the configuration says over it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.switch.keys import PROFILE_FORMAT
from fabriclab.lab.switch.port_keys import port_key
from fabriclab.vendors.arista.profile.chip import Chip
from fabriclab.vendors.arista.profile.config_text import ConfigText
from fabriclab.vendors.arista.profile.port_blocks import Maps, PortBlocks
from fabriclab.vendors.arista.profile.qos import DSCP_TO_TC, TC_TO_GROUP, EosQos, LeftOut, PortQos
from fabriclab.vendors.arista.profile.read import QosReader
from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.common.port_settings import Map, PortSettings, common_and_own
from fabriclab.vendors.common.sourced_values import Block, block_lines, map_text, numbered_lines

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_EVERY = "Ethernet*"


@dataclass(frozen=True)
class ImportedQos:
    """A profile made of a configuration."""

    name: str
    text: str
    interfaces: int
    """How many say something of QoS."""
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def import_qos(
    config: ConfigText, chip: Chip, name: str | None = None, *, only: Collection[str] | None = None
) -> ImportedQos:
    """Return the profile of a configuration on a chip.

    Raises LabError with all that is wrong. `name`: by default the hostname. `only`: of these interfaces, as Linux
    calls them (`eth1`).
    """
    qos = QosReader(config).read()
    if only is not None:
        qos = replace(qos, ports={port: one for port, one in qos.ports.items() if lab_interface(port) in only})
    notes: dict[str, None] = {}
    maps = _maps(qos)
    blocks = PortBlocks(config, qos, chip, Maps(maps["tc_to_queue"].values, maps["tc_to_group"].values), notes)
    ports = qos.ports or {_EVERY: PortQos()}
    settings = {lab_interface(interface): blocks.settings(port) for interface, port in ports.items()}
    config.problems.raise_if_any()
    common, classes = common_and_own(settings)
    _note_ports(qos, chip, bool(classes), notes)
    switch = _fit(name or qos.hostname or PurePath(config.file).stem)
    lines = [
        *_head(switch, config, chip),
        *_body(chip, maps, common),
        *_ports({port_key(one.ports, tuple(settings)): one.settings for one in classes}),
    ]
    return ImportedQos(switch, "".join(f"{line}\n" for line in lines), len(qos.ports), tuple(notes), qos.left_out)


def _maps(qos: EosQos) -> dict[str, Map]:
    groups = _over(TC_TO_GROUP, qos.tc_to_group)
    queues = _over(tuple(range(QUEUES)), qos.tc_to_queue)
    # The pause of a priority stops the queue of the class whose group it is; the last class of a group wins.
    stopped = {group: queue for queue, group in zip(queues.values, groups.values, strict=True)}
    return {
        "dscp_to_tc": _over(DSCP_TO_TC, qos.dscp_to_tc),
        "tc_to_queue": queues,
        "tc_to_group": groups,
        "priority_to_queue": Map(
            tuple(stopped.get(priority, priority) for priority in range(QUEUES)), "the queue of the priority's class"
        ),
    }


def _over(default: tuple[int, ...], said: Mapping[int, tuple[int, Command]]) -> Map:
    values = tuple(said[index][0] if index in said else value for index, value in enumerate(default))
    lines = dict.fromkeys(f"line {command.line}" for _, command in said.values())
    return Map(values, ", ".join(["EOS's default", *lines]))


def _note_ports(qos: EosQos, chip: Chip, differ: bool, notes: dict[str, None]) -> None:
    if not qos.ports:
        notes["no interface configures QoS: all ports have strict priority, no ECN and no PFC"] = None
    elif qos.silent:
        notes[
            f"{qos.silent} Ethernet interfaces do not configure QoS; the profile describes the {len(qos.ports)} that do"
        ] = None
    if "port_rate" in chip.head:
        notes[
            f"thresholds and rates are taken to be those of a port of {chip.head['port_rate']}, so that `scale: "
            "bandwidth` adapts them to slower links"
        ] = None
    if differ:
        notes[
            "interfaces differ: those of the profile's `ports` are named as Containerlab's cEOS names them (Ethernet1 "
            "is eth1)"
        ] = None


def lab_interface(name: str) -> str:
    """Return Ethernet1 as eth1 and Ethernet2/5/1 as eth2_5_1."""
    return re.sub(r"^Ethernet", "eth", name).replace("/", "_")


def _head(name: str, config: ConfigText, chip: Chip) -> Iterator[str]:
    yield (
        f"# QoS of {_one_line(PurePath(config.file).name)} (Arista EOS) on the memory of {chip.name}. Comments name "
        "the source of each figure."
    )
    yield f"format: {PROFILE_FORMAT}"
    yield f"title: {_quoted(f'{name}, imported from Arista EOS, on {chip.name}')}"
    yield "source:"
    yield from (f"  - {_quoted(source)}" for source in (PurePath(config.file).name, *chip.sources))
    yield from (f"{key}: {value}  # {chip.name}" for key, value in chip.head.items())


def _body(chip: Chip, maps: Mapping[str, Map], common: PortSettings) -> Iterator[str]:
    yield "pools:"
    yield from block_lines(chip.pools, 2)
    yield "maps:"
    yield from (f"  {name}: {map_text(one.values)}  # {one.origin}" for name, one in maps.items())
    yield "queues:"
    yield from _default(chip.queue)
    yield from numbered_lines(common.queues, 2)
    if chip.group is not None:
        yield "priority_groups:"
        yield from _default(chip.group)
        yield from numbered_lines(common.groups, 2)
    yield from _pfc(common, 0)


def _default(block: Block) -> Iterator[str]:
    yield "  default:"
    yield from block_lines(block, 4)


def _ports(classes: Mapping[str, PortSettings]) -> Iterator[str]:
    if classes:
        yield "ports:"
    for key, settings in classes.items():
        if settings.queues or settings.groups or settings.pfc:
            yield f"  '{key}':"
        if settings.queues:
            yield "    queues:"
            yield from numbered_lines(settings.queues, 6)
        if settings.groups:
            yield "    priority_groups:"
            yield from numbered_lines(settings.groups, 6)
        yield from _pfc(settings, 4)


def _pfc(settings: PortSettings, indent: int) -> Iterator[str]:
    if settings.pfc:
        yield f"{' ' * indent}pfc:"
        yield from block_lines(settings.pfc, indent + 2)


def _fit(name: str) -> str:
    return _UNFIT.sub("-", name).strip("-_")[:50] or "switch"


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _quoted(text: str) -> str:
    """Return a text as a YAML scalar on one line."""
    return "'" + _one_line(text).replace("'", "''") + "'"
