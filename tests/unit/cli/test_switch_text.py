"""A switch with a shared buffer in words, and warnings in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_labs import TRAFFIC, plan_of, two_tiers
from typer.testing import CliRunner

from fabriclab.api.warnings import counted_sentences
from fabriclab.cli.app import app
from fabriclab.cli.text.switch import switch_lines

SWITCHES = """
  default:
    pools: {shared: {size: 200 KB}, in: {size: 300 KB, headroom: 40 KB}}
    maps: {dscp_to_tc: {0..63: 0, ef: 5, cs3: 3}, tc_to_queue: {5: 6}}
    queues:
      0: {reserved: 3 KB, wred: {min: 20 KB, max: 60 KB, probability: 10 %, weight: 2}, voq_limit: 80 KB, event: 50 KB}
      3: {pool: none, limit: 400 KB, phantom: {rate: 95 %, threshold: 3 KB}}
      6: {limit: 50 KB, scheduler: strict, pir: 100 Mbps, pbs: 3 KB, wred: {min: 50 us, ecn: false}}
    priority_groups:
      0: {pool: in, limit: none}
      3: {pool: in, alpha: 1/4, lossless: true, headroom: 15 KB, xon: 9 KB, xon_offset: 3 KB}
    pfc: {priorities: [3], reaction: 2 us, watchdog: {detection: 100 ms, restoration: 200 ms, action: forward}}
  spine2: {}
"""
LEAF = """leaf1, leaf2: pools of its own, 4 ports
  pool shared: 200 KB
  pool in: 300 KB, shared headroom 40 KB beside it
  eth1..eth2 (1 Gbps):
    queue 0: 3 KB reserved, pool shared, alpha 1 (97 KB alone, 40.6 KB with 4 busy); dwrr weight 1; \
WRED marks (non-ECT: drop) 20 KB to 60 KB, up to 10 %, average of weight 2^-2; at most 80 KB from one port; \
congestion events begin at 50 KB
    queue 3: 400 KB of its own; dwrr weight 1; phantom queue of 950 Mbps marks above 3 KB
    queue 6: pool shared, at most 50 KB; strict, at most 100 Mbps (burst 3 KB); WRED drops from 50 us on
    priority group 0: pool in, all of it; lossy
    priority group 3: pool in, alpha 1/4 (60 KB alone, 37.5 KB with 4 busy); \
lossless: headroom 15 KB, continues 3 KB below the limit (9 KB at least)
    dscp_to_tc: 0..23, 25..45, 47..63 to 0; 24 to 3; 46 to 5
    tc_to_queue: 5 to 6
    PFC of priorities 3: 65,535 quanta, reaction 2 us; watchdog: after 100 ms: forward, until 200 ms
  eth3..eth4 (10 Gbps):"""


def test_a_switch_in_words(tmp_path: Path) -> None:
    """Switches alike stand together, ports of another rate by themselves; maps show what is not as usual."""
    text = "\n".join(switch_lines(plan_of(tmp_path, SWITCHES, topology=two_tiers())))
    leaf = text[text.index("leaf1") :]
    assert leaf.splitlines()[: len(LEAF.splitlines())] == LEAF.splitlines()
    assert text.startswith("spine1, spine2: pools of its own, 2 ports\n")


def test_a_profile_and_what_was_made_of_it(tmp_path: Path) -> None:
    lines = switch_lines(plan_of(tmp_path, "{default: {profile: mine}}"))
    assert lines[:4] == [
        "s1: profile mine: A switch of round figures, 4 ports",
        "  pool shared: 39.94 KB, cells of 256 B",
        "  eth1..eth4 (1 Gbps):",
        "    queues 0..7: 512 B reserved, pool shared, alpha 1 (12.11 KB alone, 5147 B with 4 busy); dwrr weight 14",
    ]
    assert lines[4] == "  note: pool shared: 32 MB x 4 Gbps / 3.2 Tbps = 40 KB"


def test_a_plan_without_such_a_switch_has_no_word_of_it(tmp_path: Path) -> None:
    assert switch_lines(plan_of(tmp_path, "{default: {buffer: 64 KB}}")) == []


def test_each_warning_once_with_the_points_that_have_it() -> None:
    assert counted_sentences([]) == []
    assert counted_sentences([("a", "b", "a"), ("b",)]) == ["a (1 of 2 points)", "b"]


@pytest.mark.parametrize("command", ["plan", "check"])
def test_the_terminal_shows_warnings(tmp_path: Path, command: str) -> None:
    plan_of(
        tmp_path, "{default: {pools: {shared: {size: 100 KB}}, queues: {default: {wred: {min: 60 KB}}}}}", more=TRAFFIC
    )
    result = CliRunner().invoke(app, [command, str(tmp_path)])
    assert result.exit_code == 0
    assert [line.partition(" is not ")[0] for line in result.output.splitlines() if line.startswith("warning")] == [
        "warning: s1: queues.0..7.wred.min: 60 KB"
    ]
