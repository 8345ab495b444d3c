"""Programs in a lab's hosts find the lab's own files in `/job/lab`, and can't change them."""

from __future__ import annotations

from pathlib import Path

import pytest

import fabriclab

pytestmark = pytest.mark.vm

TOPOLOGY = """\
name: files
topology:
  defaults: {kind: linux}
  nodes: {h1: {}, h2: {}, s1: {labels: {fabriclab.role: switch}}}
  links: [{endpoints: ['h1:eth1', 's1:eth1']}, {endpoints: ['h2:eth1', 's1:eth2']}]
"""
EXPERIMENT = """\
title: A program reads a file of its lab
links: {rate: 1 Gbps, delay: 10 us}
switches: {default: {buffer: 64 KB}}
traffic:
  reads:
    kind: program
    node: h1
    argv: [bash, -c, "cat /job/lab/word.txt; echo changed >/job/lab/word.txt || echo refused"]
    output: said.txt
"""


def test_a_program_reads_the_labs_files_and_changes_none(tmp_path: Path) -> None:
    lab = tmp_path / "files"
    lab.mkdir()
    (lab / "word.txt").write_text("sesame\n")
    (lab / "topology.clab.yml").write_text(TOPOLOGY)
    (lab / "experiment.yml").write_text(EXPERIMENT)
    done = fabriclab.run(lab, out=tmp_path / "run")
    assert done.status == "complete"
    assert (tmp_path / "run" / "output" / "said.txt").read_text().split() == ["sesame", "refused"]
    assert (lab / "word.txt").read_text() == "sesame\n"
