"""How severe a finding of `sonic check` is: what breaks traffic, or keeps other rules from being asked, is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sonic_traps import patched, sound, trap

from fabriclab.vendors.sonic.judge import judge_config_db

PORTS = tuple(sound()["PORT"])
NO_WATCHDOG: dict[str, Any] = {"PFC_WD": None}
NAMED = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf7"}}}
PRESET = {"DEVICE_METADATA": {"localhost": {"hostname": "sonic"}}}
MINIGRAPH = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf7", "default_pfcwd_status": "enable"}}}


def bound_to(queues: str, scheduler: str) -> dict[str, Any]:
    """Return a change that gives some queues of all ports a strict scheduler."""
    names = {f"{port}|{queues}": {"scheduler": scheduler} for port in PORTS}
    return {"SCHEDULER": {scheduler: {"type": "STRICT"}}, "QUEUE": names}


def without_profile(queue: str) -> dict[str, Any]:
    """Return a change that takes the buffer profile off the queues of all ports that begin with a number."""
    keys = [key for key in sound()["BUFFER_QUEUE"] if key.partition("|")[2].startswith(queue)]
    return {"BUFFER_QUEUE": dict.fromkeys(keys)}


def severities(tables: dict[str, Any]) -> dict[str, str]:
    judgement = judge_config_db(json.dumps(tables, indent=2).encode(), "c.json")
    return {one.rule: one.severity for one in judgement.findings}


@pytest.mark.parametrize(
    "name",
    ["pool-direction", "wred-below-frame", "wred-without-probability", "channel-without-links"],
)
def test_a_trap_that_breaks_traffic_is_an_error(name: str) -> None:
    assert severities(trap(name))[name] == "error"


@pytest.mark.parametrize(
    ("change", "rule", "severity"),
    [
        ({**NO_WATCHDOG, **NAMED}, "pfc-without-watchdog", "error"),
        ({**NO_WATCHDOG, **PRESET}, "pfc-without-watchdog", "warning"),
        ({**NO_WATCHDOG, **MINIGRAPH}, "pfc-without-watchdog", "warning"),
        ({"PFC_WD": {"Ethernet8": None}, **PRESET}, "pfc-without-watchdog", "error"),
        (without_profile("3"), "queue-without-profile", "error"),
        (without_profile("0"), "queue-without-profile", "warning"),
        (bound_to("0-2", "s"), "starvation", "error"),
        (bound_to("5-7", "s"), "starvation", "warning"),
    ],
    ids=["no watchdog", "preset", "minigraph", "one port", "lossless", "lossy", "data first", "control first"],
)
def test_the_same_rule_is_as_severe_as_what_it_breaks(change: dict[str, Any], rule: str, severity: str) -> None:
    assert severities(patched(sound(), change))[rule] == severity


def test_marks_out_of_reach_only_while_many_ports_are_busy_are_a_warning() -> None:
    """Alpha 1/4 of the ingress pool: more than the minimum for one busy port, less for all five."""
    profile = next(name for name, one in sound()["BUFFER_PROFILE"].items() if "xoff" in one)
    found = {
        threshold: severities(patched(sound(), {"BUFFER_PROFILE": {profile: {"dynamic_th": threshold}}})).get(
            "wred-above-xoff"
        )
        for threshold in ("-6", "-3", "3")
    }
    assert found["-6"] == "error" and found["3"] is None, found
    assert "warning" in {
        severities(patched(sound(), {"BUFFER_PROFILE": {profile: {"dynamic_th": str(threshold)}}})).get(
            "wred-above-xoff"
        )
        for threshold in range(-6, 4)
    }


def test_a_threshold_that_is_far_too_small_is_named() -> None:
    (one,) = judge_config_db(json.dumps(trap("wred-above-xoff")).encode(), "c.json").findings
    assert "or a larger dynamic_th than -4 in the group's BUFFER_PROFILE" in one.remedy
