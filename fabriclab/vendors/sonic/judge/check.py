"""Judging a config_db.json: all rules, in three steps, each of which needs what the one before found sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fabriclab.formats.finding import SEVERITIES
from fabriclab.keys.wording import listed
from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.lab.reading.problems import LabError
from fabriclab.vendors.sonic.judge import (
    buffer_rules,
    device_rules,
    filter_rules,
    likeness_rules,
    network_rules,
    pfc_rules,
    policy_rules,
    port_rules,
    roce_rules,
    scheduler_rules,
    text_rules,
    wred_rules,
)
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding, merged
from fabriclab.vendors.sonic.judge.switch import ConfiguredSwitch, SwitchBuilder
from fabriclab.vendors.sonic.judge.switch_rules import switch_findings
from fabriclab.vendors.sonic.read import ConfigDb, examine_config_db
from fabriclab.vendors.sonic.read.accounts import MOST_POOLS
from fabriclab.vendors.sonic.read.chips import Chip
from fabriclab.vendors.sonic.read.qos_tables import MAP_TABLES

MOST_FINDINGS = 1000
"""More of them help nobody, and finding the line of each takes time."""
MOST_PORTS = 2048
_BY_THEMSELVES = (
    text_rules.old_references,
    text_rules.port_lists,
    text_rules.overlaps,
    text_rules.blanks,
    text_rules.unknown_tables,
    text_rules.unknown_fields,
    buffer_rules.mandatory,
    buffer_rules.thresholds,
    buffer_rules.directions,
    buffer_rules.percentages,
    wred_rules.wred_profiles,
    scheduler_rules.rates,
    scheduler_rules.units,
    pfc_rules.watchdog_times,
    buffer_rules.memory,
    port_rules.lanes,
    port_rules.aliases,
    port_rules.speeds,
    port_rules.down_in_use,
    port_rules.channels,
    port_rules.breakouts,
    network_rules.addresses,
    network_rules.interfaces,
    network_rules.sessions,
    network_rules.identity,
    network_rules.silent_tables,
    policy_rules.unseen_fields,
    likeness_rules.classes_that_lead_nowhere,
    device_rules.traffic_shifted,
    device_rules.hash_fields,
    device_rules.adaptive_routing,
    device_rules.servers,
    device_rules.traps,
    device_rules.profiles_of_others,
    filter_rules.shadowed,
)
"""Rules of tables as they stand."""
_TOGETHER = (
    pfc_rules.maps_missing,
    pfc_rules.unused_groups,
    pfc_rules.unwatched,
    pfc_rules.cables,
    wred_rules.lossless_drops,
    wred_rules.below_frame,
    likeness_rules.one_port_differs,
    likeness_rules.queues_without_profile,
    roce_rules.notifications,
    roce_rules.pfc_alone,
    roce_rules.trimming,
)
"""Rules of ports with everything that is bound to them."""
_UNSOUND = frozenset({"malformed", "pool-direction", "pool-percentage"})
"""What keeps a file from being a switch, in the tables that make one."""
_SWITCH_TABLES = (
    *(
        "PORT",
        "CABLE_LENGTH",
        "BUFFER_POOL",
        "BUFFER_PROFILE",
        "BUFFER_PG",
        "BUFFER_QUEUE",
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    ),
    *("QUEUE", "SCHEDULER", "WRED_PROFILE", "PORT_QOS_MAP", "PFC_WD", *MAP_TABLES),
)
_ALL_WAITS = "nearly all of the file is malformed: no other rule was checked"
_NOT_ASKED = "rules of the whole switch (memory, thresholds, PFC, headroom) were not checked"
_SWITCH_WAITS = f"{_NOT_ASKED}: correct the errors first"
_MEMORY_WAITS = "rules of thresholds, headroom and schedulers were not checked: correct the reserved sizes first"


@dataclass(frozen=True)
class Judgement:
    """What was found in a file, in the order of the file."""

    file: str
    findings: tuple[SonicFinding, ...]
    ports: int
    """How many of them were judged together, N busy queues: those that are up; all, if none is."""
    skipped: str = ""
    """Why rules were not asked; empty: all were."""
    more: int = 0
    """How many findings were left out, none worse than the others."""
    not_emulated: tuple[NotEmulated, ...] = ()
    """What acts on traffic in the switch, and of which no rule knows what it does."""
    chip: str = ""
    """What is known of how the switch's chip counts memory; empty: the file has no buffers."""


def judge_config_db(data: bytes, file: str, cell_bytes: int | None = None, chip: Chip | None = None) -> Judgement:
    """Return what is wrong with a file's bytes. Raises LabError if it is not a JSON object.

    `cell_bytes`: of the switch's memory, of which CONFIG_DB says nothing; None: as the chip has it.
    `chip`: the switch's; None: by its hwsku.
    """
    config, problems = examine_config_db(data, file)
    if config is not None and config.json is not None and not isinstance(config.json.value, dict):
        raise LabError(problems.found())
    found = list(text_rules.malformed(problems.found(), config))
    if config is None:
        return Judgement(file, tuple(found), 0, _ALL_WAITS)
    config = config if chip is None else replace(config, chip=chip)
    cell_bytes = cell_bytes or config.chip.cell_bytes
    bindings = Bindings(config)
    bad = {one.path[:2] for one in found}
    found += [one for rule in _BY_THEMSELVES for one in rule(bindings) if one.path[:2] not in bad]
    skipped = _why_no_switch(bindings, found)
    ports = len(config.ports)
    if not skipped:
        configured = SwitchBuilder(bindings, cell_bytes).build()
        ports = len(configured.busy)
        found += _of_switch(bindings, configured, cell_bytes)
        skipped = _MEMORY_WAITS if any(one.rule == "reserved-above-pool" for one in found) else ""
    every = merged(found)
    more, verdict = max(0, len(every) - MOST_FINDINGS), config.chip.verdict if config.pools else ""
    return Judgement(file, _sorted(config, every), ports, skipped, more, config.not_emulated, verdict)


def _why_no_switch(bindings: Bindings, found: Iterable[SonicFinding]) -> str:
    """Return why a file is not a switch; empty where it is one, and where it does not mean to be."""
    config = bindings.config
    if any(one.rule in _UNSOUND and one.path[0] in _SWITCH_TABLES for one in found):
        return _SWITCH_WAITS
    if len(config.ports) > MOST_PORTS:
        return f"{_NOT_ASKED}: {len(config.ports)} ports, and no switch has more than {MOST_PORTS}"
    unsized = [pool.name for pool in config.pools.values() if pool.size is None]
    if unsized:
        return f"{_NOT_ASKED}: no size in bytes of {listed(unsized)}"
    pools = SwitchBuilder(bindings, config.chip.cell_bytes).pool_count
    return f"{_NOT_ASKED}: {pools} pools, and no switch has more than {MOST_POOLS}" if pools > MOST_POOLS else ""


def configured_switch(config: ConfigDb) -> ConfiguredSwitch | None:
    """Return the switch that a file describes whose tables are whole; None where it is none."""
    bindings = Bindings(config)
    return None if _why_no_switch(bindings, ()) else SwitchBuilder(bindings, config.chip.cell_bytes).build()


def with_more(judgement: Judgement, findings: Iterable[SonicFinding]) -> Judgement:
    """Return what was found in a file with what was found between it and others, in the order of the file."""
    every = sorted((*judgement.findings, *findings), key=lambda one: one.line or 0)
    return replace(judgement, findings=tuple(every))


def _of_switch(bindings: Bindings, configured: ConfiguredSwitch, cell_bytes: int) -> Iterator[SonicFinding]:
    for rule in _TOGETHER:
        yield from rule(bindings, configured.ports)
    over = list(buffer_rules.reserved(bindings, cell_bytes))
    yield from over
    if bindings.config.pools and not over:
        yield from switch_findings(bindings, configured)


def _sorted(config: ConfigDb, findings: list[SonicFinding]) -> tuple[SonicFinding, ...]:
    """Return the worst findings with their lines in the order of the file; of one line, the worst first."""
    worst = sorted(findings, key=lambda one: SEVERITIES.index(one.severity))[:MOST_FINDINGS]
    placed = [one if one.line is not None else replace(one, line=config.place(*one.path).line) for one in worst]
    return tuple(sorted(placed, key=lambda one: one.line or 0))
