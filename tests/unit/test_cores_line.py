"""On how many cores a lab gets faster, as `fabriclab plan` says."""

from __future__ import annotations

from pathlib import Path

from cores_lab import plan_of, write_lab
from sample_plans import star

from fabriclab.api.cores import cores_line, paying_cut


def test_long_delays_pay_and_short_ones_do_not(tmp_path: Path) -> None:
    assert cores_line(plan_of(write_lab(tmp_path / "short"))) == ""
    line = cores_line(plan_of(write_lab(tmp_path / "long", delay_ns=500_000)))
    assert line.startswith("cores: up to 2 pay (--cores): ")
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
