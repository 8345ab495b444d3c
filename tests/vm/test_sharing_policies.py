"""A sharing policy of a user's own in the machine, and the policies that are there, by lab."""

from __future__ import annotations

from pathlib import Path

import pytest

import fabriclab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

SHORT = {"traffic.long.stop": "60 ms", "traffic.incast.start": "20 ms", "traffic.incast.rounds": "5"}


def lab(directory: Path) -> Path:
    return fabriclab.new(directory / "mine", template="sharing").directory


def flows(run: fabriclab.Run) -> bytes:
    return (run.directory / "flows.parquet").read_bytes()


def test_the_dynamic_threshold_of_ones_own_is_the_dynamic_threshold(tmp_path: Path) -> None:
    """To the byte: a policy costs no time, and is asked at the same instants."""
    directory = lab(tmp_path)
    source = directory / "mine.c"
    source.write_text(source.read_text().replace("div_u64(share, max(view->congested, 1U))", "share"))
    alone = fabriclab.run(directory, set={**SHORT, "sharing": "dynamic"}, out=tmp_path / "dynamic")
    own = fabriclab.run(directory, set={**SHORT, "sharing": "./mine.c"}, out=tmp_path / "own")
    assert (alone.summary["queue_drops"] or 0) > 0
    assert flows(own) == flows(alone)


def test_the_template_protects_an_in_cast_that_complete_sharing_hurts(tmp_path: Path) -> None:
    directory = lab(tmp_path)
    own = fabriclab.run(directory, set=SHORT, out=tmp_path / "own")
    assert own.summary["queue_drops[s1:eth7]"] == 0
    abm = fabriclab.run(directory, set={**SHORT, "sharing": "abm"}, out=tmp_path / "abm")
    assert abm.summary["queue_drops[s1:eth7]"] == 0
    complete = fabriclab.run(directory, set={**SHORT, "sharing": "complete"}, out=tmp_path / "complete")
    longest = [run.summary["queue_max_bytes"] or 0 for run in (own, complete)]
    assert longest[1] > 1.2 * longest[0]
