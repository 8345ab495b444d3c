"""`save-lab`: what was done in a live lab as a lab, with a stand-in for its machine."""

from __future__ import annotations

import csv
from pathlib import Path

import pair_lab
import pytest
from typer.testing import CliRunner

import fabriclab
from fabriclab.cli.app import app
from fabriclab.formats.plan.traffic import RoundsTraffic
from fabriclab.lab import parse_lab
from fabriclab.live.changes_log import CHANGES_FILE, ChangesError, read_changes
from fabriclab.live.lab import Live
from fabriclab.live.saving import SaveError
from fabriclab.resolve import resolve_plan

COMMENTED = pair_lab.EXPERIMENT.replace("switches:", "# of the rack's own switch\nswitches:")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        file.readline()
        return list(csv.DictReader(file))


def test_a_session_becomes_a_lab(live: Live) -> None:
    live.exec("h1", ["echo"])
    live.set({"switches.s1.ecn_threshold": "30 KB"})
    live.link_down("s1:eth1")
    live.link_set("s1:eth2", {"rate": "100 Mbps", "loss": "1 %"})
    live.node_down("h2")
    live.start("one")
    live.flow("h1", "h2", "20 KB", congestion_control="reno")
    live.stop("one")
    saved = fabriclab.save_lab(live.directory, "deep/mine")
    assert (saved.directory, saved.events, saved.flows) == (Path("deep/mine"), 4, 2)
    assert saved.left_out == (
        "1 flow that `stop` may have cut short: in the lab they are sent whole",
        "1 command in nodes (exec, shell, vtysh, cp), which a lab's files cannot describe",
    )
    lab = parse_lab(Path("deep/mine"))
    done = list(read_changes(live.directory))
    assert lab.name == "mine" and lab.experiment.seed == 1
    events = lab.experiment.events
    assert [event.at_ns for event in events] == [one.at_ns for one in done[:4]]
    assert {key: value.text for key, value in events[0].settings.items()} == {"switches.s1.ecn_threshold": "30 KB"}
    assert [(event.link, event.node, event.action) for event in events[1:]] == [
        ("s1:eth1", None, "down"),
        ("s1:eth2", None, None),
        (None, "h2", "down"),
    ]
    assert (events[2].rate_bps, events[2].loss_ppm) == (100_000_000, 10_000)
    assert [traffic.name for traffic in lab.experiment.traffic] == ["by-hand"], "the lab was idle"
    rows = rows_of(Path("deep/mine/by-hand.csv"))
    starts = [one.at_ns for one in done if one.kind in ("start", "flow")]
    assert starts[0] < int(rows[0]["start_ns"]) <= starts[0] + 50_000, "traffic of the lab starts late"
    assert int(rows[1]["start_ns"]) == starts[1]
    assert [row["flow"] for row in rows] == ["0", "1"] and rows[1]["congestion_control"] == "reno"
    assert "1 command in nodes" in Path("deep/mine/README.md").read_text()
    assert not list(Path("deep").glob(".mine*"))


def test_what_was_set_when_it_came_up_and_its_comments_are_kept(served_here: Path) -> None:
    Path("pair/experiment.yml").write_text(COMMENTED)
    with fabriclab.up(
        "pair", set={"switches.s1.buffer": "70 KB", "rounds": 3, "hosts.h1.delayed_ack": False}, seed=7
    ) as live:
        Path("pair/experiment.yml").write_text("title: another\n")
        live.set({"switches.s1.buffer": "80 KB"})
    result = CliRunner().invoke(app, ["save-lab", str(live.directory), "-o", "mine"])
    assert result.stdout.startswith("mine: 1 event, 0 flows by hand; `fabriclab run mine` runs it\n"), result.output
    text = Path("mine/experiment.yml").read_text()
    assert "# of the rack's own switch\n" in text and "title: 'A live session of pair: a pair'\n" in text
    lab = parse_lab(Path("mine"))
    (traffic,) = resolve_plan(lab, {}, lab.experiment.seed).traffic
    assert isinstance(traffic, RoundsTraffic) and traffic.rounds == 3
    buffer = lab.experiment.switches["s1"].buffer
    assert lab.experiment.seed == 7 and buffer is not None and buffer.text == "70 KB"


def test_a_lab_made_in_python_is_saved_and_events_in_a_list_have_more(served_here: Path) -> None:
    events = "events: [{at: 50 s, link: 's1:eth1', action: down}]\nlimit: 51 s\nchecks: []\n"
    with fabriclab.up(fabriclab.Lab.from_yaml(pair_lab.TOPOLOGY, pair_lab.EXPERIMENT + events), idle=True) as live:
        live.link_down("s1:eth2")
        saved = fabriclab.save_lab(live.directory, "mine")
    assert saved.left_out == (
        "the session sent no traffic, but a lab must have traffic, so this lab sends its own",
        "checks (they belong to the original experiment)",
    )
    lab = parse_lab(Path("mine"))
    assert [event.link for event in lab.experiment.events] == ["s1:eth2", "s1:eth1"]


def test_what_can_be_no_lab_is_said_and_nothing_is_left(served_here: Path) -> None:
    with fabriclab.up("pair", idle=True) as live:
        live.set({"switches.s1.buffer": "80 KB"})
    with pytest.raises(fabriclab.FabriclabError, match=r"has no session\.jsonl"):
        fabriclab.save_lab("pair", "mine")
    with pytest.raises(fabriclab.ArgumentError, match="pair already exists"):
        fabriclab.save_lab(live.directory, "pair")
    with pytest.raises(fabriclab.ArgumentError, match="'a b' is not a lab name"):
        fabriclab.save_lab(live.directory, "a b")
    kept = live.directory / "lab" / "experiment.yml"
    kept.write_text(kept.read_text().replace("64 KB", "65 KB"))
    with pytest.raises(SaveError, match="the lab's files have changed since the session began"):
        fabriclab.save_lab(live.directory, "mine")
    with (live.directory / CHANGES_FILE).open("a") as file:
        file.write('{"at_ns": 1}\n{"cut')
    with pytest.raises(ChangesError, match=r"changes\.jsonl:2: the line does not describe a change"):
        list(read_changes(live.directory))
    assert not list(Path().glob("*mine*"))


def test_a_flow_keeps_the_congestion_control_that_both_its_ends_had(live: Live) -> None:
    live.set({"hosts.h1.congestion_control": "bbr"})
    live.flow("h1", "h2", "20 KB")
    live.set({"hosts.default.congestion_control": "bbr", "hosts.default.receive_buffer": "1 MB"})
    live.flow("h1", "h2", "20 KB")
    live.flow("h1", "h2", "20 KB", congestion_control="reno")
    saved = fabriclab.save_lab(live.directory, "mine")
    assert [row["congestion_control"] for row in rows_of(Path("mine/by-hand.csv"))] == ["", "bbr", "reno"]
    assert saved.left_out[0].startswith("hosts.default.receive_buffer for flows that were started by hand: ")
