"""On how many cores a lab gets faster, as `fabriclab plan` says."""

from __future__ import annotations

from pathlib import Path

from cores_lab import plan_of, write_lab
from sample_plans import star

from fabriclab.api.cores import cores_line, paying_cut, paying_parts
from fabriclab.compile.cut import one_part


def test_long_delays_pay_and_short_ones_do_not(tmp_path: Path) -> None:
    assert cores_line(plan_of(write_lab(tmp_path / "short"))) == ""
    line = cores_line(plan_of(write_lab(tmp_path / "long", delay_ns=500_000)))
    assert line.startswith("cores: up to 2 pay: ")
    assert "of 500 us or more between them; at most" in line


def test_what_can_not_be_cut_pays_nowhere() -> None:
    assert paying_cut(star(3)) is None
    assert cores_line(star(3)) == ""


def test_flows_that_wait_for_each_other_pay_nowhere(tmp_path: Path) -> None:
    lab = write_lab(tmp_path, delay_ns=500_000)
    text = (lab / "experiment.yml").read_text()
    rounds = "rounds: {kind: rounds, senders: [h1, h3], receiver: h5, size: 10 KB, rounds: 2}"
    (lab / "experiment.yml").write_text(text.replace("traffic:\n", f"traffic:\n  {rounds}\n"))
    assert cores_line(plan_of(lab)) == ""


def test_no_more_than_there_are_is_named(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path, delay_ns=500_000))
    assert paying_cut(plan, most=1) is None


def test_the_lab_says_how_many_parts_pay_and_the_host_how_many_it_has(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path, delay_ns=500_000))
    for cores, parts, why in ((1, 1, "1 part; up to 2"), (2, 2, "2 parts; up to 2"), (64, 2, "2 parts; up to 2")):
        chosen = paying_parts(plan, cores, tmp_path)
        assert chosen.cut is not None and len(chosen.cut.parts) == parts
        assert chosen.why == f"cores: {why} pay"


def test_what_gains_nothing_is_not_cut_and_why_is_told(tmp_path: Path) -> None:
    lab = write_lab(tmp_path / "short")
    assert paying_parts(plan_of(lab), 8, lab) == (
        one_part(plan_of(lab)),
        "cores: not divided: its parts would lose more by waiting for each other than they gain",
    )
    routed = star(3)
    chosen = paying_parts(routed, 8, tmp_path)
    assert chosen.cut == one_part(routed) and chosen.why.startswith("cores: not divided: ")
    lab = write_lab(tmp_path / "after", delay_ns=500_000)
    text = (lab / "experiment.yml").read_text()
    (lab / "experiment.yml").write_text(text.replace("traffic:\n", "traffic:\n  own: {kind: trace, file: own.csv}\n"))
    head = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,group,after\n"
    (lab / "own.csv").write_text(head + "0,0,h1,h3,1000,,,first,\n1,0,h5,h6,1000,,,second,first\n")
    assert paying_parts(plan_of(lab), 8, lab) == (
        one_part(plan_of(lab)),
        "cores: not divided: flows that wait for others are in several parts",
    )
