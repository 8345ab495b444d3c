"""The rules of `switch_checks` on the switch that a file describes, told in CONFIG_DB's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabriclab.formats.finding import Severity
from fabriclab.resolve.switch.checks import check_switch
from fabriclab.resolve.switch.findings import SwitchFinding, SwitchRule
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.places import config_path
from fabriclab.vendors.sonic.judge.rules import RULES
from fabriclab.vendors.sonic.judge.shipped import as_shipped
from fabriclab.vendors.sonic.judge.switch import ConfiguredSwitch
from fabriclab.vendors.sonic.judge.text_rules import entries

NOT_OF_FILES: frozenset[SwitchRule] = frozenset(
    {"reserved-above-pool", "counted-twice", "pause-ignored", "dctcp-without-marks", "sharing-not-judged"}
)
"""Rules that do not apply: the first is `buffer_rules`'s, in the file's figures; of the neighbours and of the traffic
nothing is known, and SONiC's queues share by the dynamic threshold. All others are in `RULES`, which
tests/unit/vendors/sonic/test_sonic_check.py holds against `SwitchRule`."""
_AS_FOUND = frozenset({"starvation", "cir-above-line", "pfc-lossy-group", "pause-stops-other-queue"})
"""Rules whose value is not what one field says."""
_SMALL_DSCPS = frozenset({46, *range(48, 64)})
"""Voice (RFC 3246), congestion notifications, and control of the network (RFC 4594)."""
_LOSSLESS_POOL = "ingress_lossless_pool"
_LOOKUP = "write a larger xoff; the platform's pg_profile_lookup.ini lists it by speed and cable length"
REMEDIES = {
    "pool-below-frames": "write a larger size",
    "wred-unreachable": "write a smaller threshold, or a larger dynamic_th or static_th",
    "pfc-lossy-group": "bind a profile with xoff to that group in BUFFER_PG",
    "headroom-below-frame": _LOOKUP,
    "headroom-below-need": _LOOKUP,
    "headroom-for-full-frames": _LOOKUP,
    "shared-headroom-too-small": "write a larger xoff of the pool",
    "xon-above-limit": "write a smaller xon",
    "pause-stops-other-queue": "correct pfc_to_queue_map, tc_to_queue_map or tc_to_pg_map",
    "lossless-queue-drops": "bind a profile whose static_th is the whole memory, such as egress_lossless_profile",
    "starvation": "write a pir (with its cir) there, a cir here, or DWRR",
    # Of a lab's switch; a file alone is told more of the first, and nothing of the others.
    "wred-above-xoff": "write a smaller threshold, or a larger dynamic_th in the group's BUFFER_PROFILE",
    "counted-twice": "bind queues to an egress pool in BUFFER_QUEUE, and groups to an ingress pool in BUFFER_PG",
    "dctcp-without-marks": "bind a WRED_PROFILE with ecn_all to that queue in QUEUE",
    "lossless-without-pfc": "name the group's priority in pfc_enable of PORT_QOS_MAP",
    "reserved-above-pool": "write smaller sizes in BUFFER_PROFILE, or a larger BUFFER_POOL",
}
"""What to write instead, in CONFIG_DB's words, by rule of a switch."""


def switch_findings(bindings: Bindings, configured: ConfiguredSwitch) -> Iterator[SonicFinding]:
    """Yield what is found of memory, thresholds, schedulers and PFC."""
    for found in check_switch(configured.switch, configured.busy):
        if found.rule in NOT_OF_FILES:
            continue
        for port in found.ports or ("",):
            told = _told(found, port, bindings, configured)
            if _is_left(found, port, bindings, configured):
                yield _left_to_buffermgrd(told, port, bindings)
            else:
                yield as_shipped(_without_cable(told, port, bindings), bindings)


def _is_left(found: SwitchFinding, port: str, bindings: Bindings, configured: ConfiguredSwitch) -> bool:
    """Return whether buffermgrd makes the group of a PFC priority lossless: SONiC's own templates bind none.

    It binds a profile by speed and cable where a port has PFC and a cable (sonic-swss, cfgmgr/buffermgr.cpp,
    doSpeedUpdateTask), and takes priorities for numbers of groups; buffermgrdyn binds nothing by itself.
    """
    config = bindings.config
    if found.rule != "pfc-lossy-group" or config.pools.get(_LOSSLESS_POOL) is None or _is_dynamic(bindings):
        return False
    checked = next(one.port for one in configured.ports if one.name == port)
    priorities = () if checked.pfc is None else checked.pfc.priorities
    return (
        config.cable_metres.get(port, 0) > 0
        and all(checked.maps.priority_to_group[priority] == priority for priority in priorities)
        and not set(priorities) & set(bindings.groups.get(port, {}))
    )


def _is_dynamic(bindings: Bindings) -> bool:
    return entries(bindings.config, "DEVICE_METADATA").get("localhost", {}).get("buffer_model") == "dynamic"


def _left_to_buffermgrd(told: SonicFinding, port: str, bindings: Bindings) -> SonicFinding:
    speed, metres = bindings.config.ports[port].speed_mbps, bindings.config.cable_metres[port]
    return replace(
        told,
        severity="note",
        bound=(
            "the priority of a group without a BUFFER_PG, to which buffermgrd binds "
            f"pg_lossless_{speed}_{metres}m_profile"
        ),
        consequence=(
            "its thresholds and headroom were not checked; it is lossy if the platform's pg_profile_lookup.ini has "
            "no line for that speed and cable"
        ),
        remedy="to check it too, check the output of `show runningconfiguration all`",
    )


def _without_cable(told: SonicFinding, port: str, bindings: Bindings) -> SonicFinding:
    """Return a finding; of a group that buffermgrd leaves lossy, for it takes a cable of 0 m for none (buffermgr.cpp),
    a warning: templates write that of ports without a neighbour."""
    if told.rule != "pfc-lossy-group" or bindings.config.cable_metres.get(port) != 0:
        return told
    consequence = f"{told.consequence}; with a cable of 0 m, buffermgrd makes no lossless group"
    return replace(told, severity="warning", consequence=consequence, remedy="write the cable's length, such as 5m")


def _told(found: SwitchFinding, port: str, bindings: Bindings, configured: ConfiguredSwitch) -> SonicFinding:
    path = config_path(bindings, configured.pool_keys, port, found.path)
    value, bound = _value(found, path, bindings), found.bound
    if found.rule == "lossless-without-pfc":
        group = int(found.path[1])
        path, value = ("BUFFER_PG", bindings.groups[port][group].key), f"group {group}"
        bound = "lossless, but no priority of pfc_enable belongs to it"
    remedy = "" if found.rule == "lossless-without-pfc" else REMEDIES.get(found.rule, "")
    if found.rule == "wred-above-xoff":
        remedy = _below_xoff(int(found.path[1]), port, bindings, configured)
    ports = (port,) if port else ()
    severity = _severity(found, port, configured)
    return SonicFinding(found.rule, severity, path, value, bound, found.consequence, remedy, ports)


def _severity(found: SwitchFinding, port: str, configured: ConfiguredSwitch) -> Severity:
    if found.rule == "wred-unreachable":
        return found.severity
    if found.rule == "wred-above-xoff" and not found.always:
        return "warning"
    if found.rule == "starvation" and _is_for_few(int(found.path[1]), port, configured):
        return "warning"
    return RULES[found.rule].severity


def _is_for_few(first: int, port: str, configured: ConfiguredSwitch) -> bool:
    """Return whether strict queues from the first one on have only DSCPs that take little of a link: control and voice,
    which many fabrics serve first."""
    checked = next(one for one in configured.ports if one.name == port).port
    strict = {
        queue.index for queue in checked.queues if queue.scheduler.kind == "strict" and not queue.scheduler.pir_bps
    }
    dscps = {dscp for dscp, tc in enumerate(checked.maps.dscp_to_tc) if checked.maps.tc_to_queue[tc] in strict}
    return dscps <= _SMALL_DSCPS


def _below_xoff(queue: int, port: str, bindings: Bindings, configured: ConfiguredSwitch) -> str:
    """Return what to write so that marks come first: a smaller threshold, or more memory for the group."""
    maps = next(one for one in configured.ports if one.name == port).port.maps
    groups = {maps.tc_to_group[tc] for tc, to in enumerate(maps.tc_to_queue) if to == queue}
    profiles = [profile for group in sorted(groups) if (profile := bindings.group_profile(port, group)) is not None]
    for profile in profiles:
        name = "dynamic_th" if profile.dynamic_th is not None else "static_th"
        if (written := getattr(profile, name)) is not None:
            return f"write a smaller threshold, or a larger {name} than {written} in the group's BUFFER_PROFILE"
    return "write a smaller threshold"


def _value(found: SwitchFinding, path: tuple[str, ...], bindings: Bindings) -> str:
    """Return what the file says, and what it comes to where that reads otherwise."""
    written = (
        entries(bindings.config, path[0]).get(path[1], {}).get(path[2])
        if len(path) == 3 and found.rule not in _AS_FOUND
        else None
    )
    if not isinstance(written, str) or written == found.value:
        return found.value
    return f"{written} (alpha {found.value})" if path[2] == "dynamic_th" else f"{written} ({found.value})"
