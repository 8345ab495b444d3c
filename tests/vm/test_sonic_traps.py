"""Traps of SONiC configurations, run: `fabriclab sonic check` says what comes of each, here it does.

Each configuration of tests/golden/sonic-check is imported (`fabriclab sonic import`) and run beside the sound one: four
hosts send to a fifth.
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sonic_runs import RECEIVER, RECEIVING, flow, plan_of, queues, run
from sonic_traps import DIRECTORY, patched, sound, trap
from vm import Vm

from fabriclab.lab import LabError
from fabriclab.vendors.sonic.judge import judge_config_db

pytestmark = pytest.mark.vm

MS = 1_000_000
DCTCP = ", congestion_control: dctcp"
FIRST, SECOND, THIRD = "[h-Ethernet0]", "[h-Ethernet4]", "[h-Ethernet8]"
Tables = dict[str, Any]


def change(name: str) -> Tables:
    tables: Tables = json.loads((DIRECTORY / "traps" / f"{name}.json").read_text())
    return tables


def without_wred(name: str) -> Tables:
    """Return a trap in a leaf where nothing but buffers and PFC acts."""
    return patched(trap("pfc-without-ecn"), change(name))


def with_thresholds(low: int, high: int) -> Tables:
    """Return the sound leaf with other thresholds of its lossy queues."""
    lossy = {
        **sound()["WRED_PROFILE"]["AZURE_LOSSLESS"],
        "green_min_threshold": str(low),
        "green_max_threshold": str(high),
    }
    tables = patched(sound(), {"WRED_PROFILE": {"lossy": lossy}})
    keys = [key for key in tables["QUEUE"] if key.endswith("|0-2")]
    return patched(tables, {"QUEUE": {key: {"wred_profile": "lossy"} for key in keys}})


def rules_of(tables: Tables) -> set[str]:
    return {finding.rule for finding in judge_config_db(json.dumps(tables).encode(), "c.json").findings}


def rows(vm: Vm, name: str, port: str, queue: int) -> pl.DataFrame:
    table = pl.read_parquet(vm.directory / name / "switch_queues.parquet")
    return table.filter((pl.col("port") == port) & (pl.col("queue") == queue)).sort("time_ns")


def share(sent: dict[int, dict[str, int]], queue: int) -> float:
    """Return a queue's share of what a port has sent."""
    return sent[queue]["sent_bytes"] / sum(row["sent_bytes"] for row in sent.values()) if queue in sent else 0.0


@pytest.mark.parametrize("name", ["ecn-without-wred", "ecn-without-green", "wred-unreachable"])
def test_nothing_is_marked_and_dctcp_loses(name: str, vm: Vm) -> None:
    tables = with_thresholds(200_000, 300_000) if name == "wred-unreachable" else trap(name)
    assert name in rules_of(tables)
    right = run(vm, sound(), "sound", {"dctcp": flow(0, more=DCTCP)})
    assert right["ecn_marks"] > 0
    # At the stop of a flow its host resets the connection, and such a packet is not ECN-capable.
    assert (right["queue_drops"], right["retransmits"]) == (0, 0) and right["wred_drops"] <= 1
    wrong = run(vm, tables, "trap", {"dctcp": flow(0, more=DCTCP)})
    assert wrong["ecn_marks"] == 0
    assert wrong["queue_drops"] + wrong["wred_drops"] > 50
    assert wrong["retransmits"] > 50


def test_with_two_ports_busy_drops_take_the_place_of_marks(vm: Vm) -> None:
    """150 KB: one queue alone gets to 178 KB; each of two that refuse frames at the same time holds 122 KB."""
    tables = with_thresholds(150_000, 160_000)
    assert "wred-unreachable-when-busy" in rules_of(tables)
    senders = "[h-Ethernet0, h-Ethernet4, h-Ethernet8]"
    one = {"a": flow(0, senders=senders, more=DCTCP)}
    assert run(vm, tables, "one", one)["ecn_marks"] > 0
    run(vm, tables, "two", {**one, "b": flow(0, senders=senders, receiver="h-Ethernet12", more=DCTCP)})
    here, there = (rows(vm, "two", port, 1) for port in (RECEIVING, "leaf1:Ethernet12"))
    both = here.join(there, on="time_ns", suffix="_there")
    full = both.filter((pl.col("dropped_queue_limit").diff() > 0) & (pl.col("dropped_queue_limit_there").diff() > 0))
    assert full.height > 5
    marks = both.with_columns(marks=pl.col("marked_wred").diff()).join(full.select("time_ns"), on="time_ns")["marks"]
    assert marks.sum() == 0


def test_at_the_limit_only_part_of_the_frames_is_marked(vm: Vm) -> None:
    """A line from 20 KB to 300 KB in a queue that ends at 177.6 KB: 56.3 % there.

    The sound leaf marks every frame above 40 KB.
    """
    tables = trap("wred-max-unreachable")
    assert "wred-max-unreachable" in rules_of(tables)
    marked: dict[str, tuple[int, int]] = {}
    for name, one in (("sound", sound()), ("trap", tables)):
        run(vm, one, name, {"dctcp": flow(0, more=DCTCP)}, "hosts: {default: {initial_window: 100}}\n")
        table = rows(vm, name, RECEIVING, 1)
        entered = (table["sent_packets"] + table["packets"]).diff()
        dropping = table.with_columns(
            entered=entered, marks=table["marked_wred"].diff(), drops=table["dropped_queue_limit"].diff()
        )
        full = dropping.filter((pl.col("drops") > 0) & (pl.col("entered") > 0))
        marked[name] = int(full["marks"].sum()), int(full["entered"].sum())
    assert marked["sound"][0] == marked["sound"][1] > 0
    marks, frames = marked["trap"]
    assert 0 < marks / frames < 0.563 + 3 * sqrt(0.25 / frames)


def test_pauses_come_before_marks(vm: Vm) -> None:
    """Two senders, whose groups pause at 5.4 KB each; the queue never gets to 20 KB."""
    tables = patched(sound(), {"BUFFER_PROFILE": {"pg_lossless_1000_5m_profile": {"dynamic_th": "-6"}}})
    assert rules_of(tables) == {"wred-above-xoff"}
    traffic = {"dctcp": flow(3, senders="[h-Ethernet0, h-Ethernet4]", more=DCTCP)}
    right, wrong = run(vm, sound(), "sound", traffic), run(vm, tables, "trap", traffic)
    assert right["ecn_marks"] > 0 == right["pauses_sent"]
    assert wrong["ecn_marks"] == 0 < wrong["pauses_sent"]


def test_drops_at_the_ingress_come_before_marks(vm: Vm) -> None:
    tables = patched(sound(), {"BUFFER_PROFILE": {"ingress_lossy_profile": {"static_th": "4000"}}})
    assert rules_of(tables) == {"wred-above-ingress-limit"}
    traffic = {"dctcp": flow(0, senders="[h-Ethernet0, h-Ethernet4]", more=DCTCP)}
    right, wrong = run(vm, sound(), "sound", traffic), run(vm, tables, "trap", traffic)
    assert right["ecn_marks"] > 0 == right["ingress_discards"]
    assert wrong["ecn_marks"] == 0 < wrong["ingress_discards"]


LOSES = {
    "pfc-lossy-group": 3,
    "lossless-without-pfc": 3,
    "lossless-group-unused": 4,
    "pause-stops-other-queue": 3,
    "lossless-queue-drops": 3,
    "headroom-below-need": 3,
    "wred-drops-lossless": 3,
}
"""Traps that make a lossless class lose, and its DSCP."""


@pytest.mark.parametrize("name", LOSES)
def test_a_lossless_class_loses(name: str, vm: Vm) -> None:
    tables = without_wred(name)
    assert name in rules_of(tables)
    lost = ("queue_drops", "wred_drops", "ingress_discards", "retransmits")
    right = run(vm, trap("pfc-without-ecn"), "sound", {"cubic": flow(LOSES[name])})
    assert [right[metric] for metric in lost] == [0, 0, 0, 0]
    assert right["pauses_sent"] > 0
    wrong = run(vm, tables, "trap", {"cubic": flow(LOSES[name])})
    assert wrong["queue_drops"] + wrong["wred_drops"] + wrong["ingress_discards"] > 0
    assert wrong["retransmits"] > 0


def test_headroom_for_full_frames_loses_against_traffic(vm: Vm) -> None:
    """The receiver sends, too: a frame of its own, in service, holds up the pause behind it."""
    tables = without_wred("headroom-for-full-frames")
    traffic = {"in": flow(3), "back": flow(3, senders=f"[{RECEIVER}]", receiver="h-Ethernet0")}
    assert run(vm, trap("pfc-without-ecn"), "sound", traffic)["ingress_discards"] == 0
    assert run(vm, tables, "trap", traffic)["ingress_discards"] > 0


def test_a_strict_queue_starves_the_others(vm: Vm) -> None:
    traffic = {"strict": flow("ef", senders=FIRST, more=DCTCP), "weighted": flow(0, senders=SECOND, more=DCTCP)}
    run(vm, sound(), "sound", traffic)
    run(vm, trap("starvation"), "trap", traffic)
    assert share(queues(vm, "sound"), 1) == pytest.approx(0.5, abs=0.01)
    assert share(queues(vm, "trap"), 1) < 0.001


THREE = {
    name: flow(dscp, senders=who, more=DCTCP)
    for name, dscp, who in (("a", 3, FIRST), ("b", 4, SECOND), ("c", 0, THIRD))
}


def test_a_rate_in_bits_takes_the_whole_line(vm: Vm) -> None:
    """300 Mbps for each of two classes, written in bits: the third class was to have what is left, 40 %."""
    run(vm, patched(sound(), {"SCHEDULER": {"scheduler.1": {"cir": str(300_000_000 // 8)}}}), "sound", THREE)
    run(vm, trap("rate-unit"), "trap", THREE)
    assert share(queues(vm, "sound"), 1) > 0.3
    # What it sends before the others have begun.
    assert share(queues(vm, "trap"), 1) < 0.005


def test_guarantees_above_the_line_hold_for_nobody(vm: Vm) -> None:
    """800 Mbps each for two classes of a line of 1 Gbps: each has half, the third class nothing."""
    run(vm, trap("cir-above-line"), "trap", THREE)
    sent = queues(vm, "trap")
    assert share(sent, 3) == pytest.approx(0.5, abs=0.01)
    assert share(sent, 4) == pytest.approx(0.5, abs=0.01)
    assert share(sent, 1) < 0.005


def test_without_a_map_all_is_in_queue_0(vm: Vm) -> None:
    run(vm, sound(), "sound", {"ef": flow("ef", senders=FIRST)})
    run(vm, trap("map-missing"), "trap", {"ef": flow("ef", senders=FIRST)})
    assert share(queues(vm, "sound"), 5) > 0.999
    assert share(queues(vm, "trap"), 0) > 0.999


def test_without_a_threshold_one_port_takes_the_pool(vm: Vm) -> None:
    """Alpha 1 leaves half of what is free; without a threshold the ingress pool is what ends it."""
    run(vm, trap("pfc-without-ecn"), "sound", {"cubic": flow(0)})
    run(vm, without_wred("no-threshold"), "trap", {"cubic": flow(0)})
    longest = {name: queues(vm, name)[1]["watermark_bytes"] for name in ("sound", "trap")}
    assert longest["sound"] < 180_000
    assert longest["trap"] > 340_000


def test_without_a_watchdog_a_storm_stops_bystanders(vm: Vm) -> None:
    """One NIC pauses for 380 ms.

    Frames to it fill the group of the sender's port, which is paused, and so is its flow to another host.
    """
    storm = f"events: {{storm: {{at: 20 ms, node: {RECEIVER}, action: pause-storm, priorities: [3], until: 400 ms}}}}\n"
    to = {
        name: flow(3, senders=FIRST, receiver=host, more=", jitter: 0 s").replace("60 ms", "400 ms")
        for name, host in (("ill", RECEIVER), ("by", "h-Ethernet12"))
    }
    sent = {}
    for name, tables in (("sound", trap("pfc-without-ecn")), ("trap", without_wred("pfc-without-watchdog"))):
        assert run(vm, tables, name, to, storm)["storms"] == (1 if name == "sound" else 0)
        bystander = rows(vm, name, "leaf1:Ethernet12", 3)
        sent[name] = [
            int(bystander.filter(pl.col("time_ns") <= time * MS)["sent_bytes"][-1]) for time in (100, 200, 400)
        ]
    # The watchdog looks on for 200 ms, then drops what is for the ill NIC.
    assert sent["sound"][0] == sent["sound"][1] < sent["sound"][2]
    assert sent["trap"][0] == sent["trap"][1] == sent["trap"][2]


REFUSED = (
    *(
        "malformed",
        "range-overlap",
        "two-thresholds",
        "wred-without-threshold",
        "reserved-above-pool",
    ),
    *(
        "account-below-frame",
        "headroom-below-frame",
        "shared-headroom-too-small",
        "xon-above-limit",
        "wred-unreachable",
    ),
)
"""What the testbed does not run: SONiC refuses it, or what it does depends on the chip, or nothing would pass."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_lab_can_be_made_of(name: str, tmp_path: Path) -> None:
    with pytest.raises(LabError):
        plan_of(trap(name), tmp_path / "lab", {"any": flow(0)})
