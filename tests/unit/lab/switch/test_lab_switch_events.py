"""Pause storms, what is sampled of shared buffers, and who belongs to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from profile_lab import TRAFFIC, experiment_of

from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.event_keys import EVENT_KEYS
from fabriclab.lab.switch.facing_ports import shared_ports

STORM = "events: {storm: {at: 100 ms, node: h3, action: pause-storm, priorities: [3], until: 600 ms}}\n"


def test_a_pause_storm(tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path, "default: {profile: mine, pfc: {priorities: [3, 4]}}", TRAFFIC + STORM)
    (storm,) = experiment.pause_storms
    assert (storm.name, storm.at_ns, storm.until_ns, storm.host) == ("storm", 100_000_000, 600_000_000, "h3")
    assert storm.priorities.value == (3,) and experiment.events == ()


def test_a_storm_that_a_setting_turns_against_a_switch_without_pfc(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="h3 faces s1, which takes no pauses"):
        experiment_of(
            tmp_path,
            "default: {profile: mine, pfc: {priorities: [3]}}",
            TRAFFIC + STORM,
            {"switches.default.pfc": "none"},
        )


def test_a_storm_that_is_not_enabled_needs_no_switch_that_takes_pauses(tmp_path: Path) -> None:
    off = {"switches.default.pfc": "none", "events.storm.enabled": "false"}
    assert (
        experiment_of(tmp_path, "default: {profile: mine, pfc: {priorities: [3]}}", TRAFFIC + STORM, off).pause_storms
        == ()
    )


def test_every_key_of_an_event_is_known_to_settings() -> None:
    assert {"priorities", "until", "enabled"} < set(EVENT_KEYS)


@pytest.mark.parametrize(
    ("probes", "interval_ns", "ports"),
    [
        ("", 10_000_000, None),
        ("probes: {tcp: {interval: 1 ms}}\n", 10_000_000, None),
        ("probes: {switches: {interval: 1 ms, ports: all}}\n", 1_000_000, None),
        ("probes: {switches: {ports: ['s1:eth2', 'h1:eth1']}}\n", 10_000_000, ("s1:eth2", "h1:eth1")),
        ("probes: {switches: none}\n", None, None),
    ],
)
def test_shared_buffers_are_sampled_unless_told_otherwise(
    tmp_path: Path, probes: str, interval_ns: int | None, ports: tuple[str, ...] | None
) -> None:
    found = experiment_of(tmp_path, "default: {profile: mine}", TRAFFIC + probes).probes
    assert (found.switch_interval_ns, found.switch_ports) == (interval_ns, ports)


def test_without_shared_buffers_nothing_of_them_is_sampled(tmp_path: Path) -> None:
    assert experiment_of(tmp_path, "default: {buffer: 64 KB}").probes.switch_interval_ns is None
    probes = "probes: {switches: {interval: 1 ms, ports: all}}\n"
    assert experiment_of(tmp_path, "default: {buffer: 64 KB}", TRAFFIC + probes).probes.switch_interval_ns is None


def test_hosts_that_face_a_shared_buffer_belong_to_it(tmp_path: Path) -> None:
    experiment = experiment_of(tmp_path, "default: {profile: mine}")
    ports = shared_ports(parse_lab(tmp_path).topology, experiment.shared_switches)
    assert len(ports) == 8 and {"h1:eth1", "s1:eth4"} < set(ports)
    assert shared_ports(parse_lab(tmp_path).topology, {}) == ()
