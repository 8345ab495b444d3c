"""Which file netlab made a lab of: under any name, by its snapshot or by its tests; else it is said."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from fabriclab.api.look import plan
from fabriclab.other_labs.netlab_source import Source, netlab_source
from fabriclab.other_labs.netlab_tests import netlab_tests

TESTS = "validate:\n  t1: {nodes: [h1], plugin: \"ping('h2')\"}\n"
DEFAULTS = "package:topology-defaults.yml"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "host_vars" / "h1").mkdir(parents=True)
    (tmp_path / "host_vars" / "h1" / "topology.json").write_text("{}")
    (tmp_path / "clab.yml").write_text("name: x\n")
    return tmp_path


class BoxList(list[str]):
    """What netlab's snapshot has for a list is a class of python-box, too."""


def snapshot(lab: Path, form: str, *files: str) -> None:
    names: Sequence[str] = [*files, DEFAULTS]
    if form == "yaml":
        lines = "".join(f"- {name}\n" for name in names)
        (lab / "netlab.snapshot.yml").write_text(f"groups:\n  a: 1\ninput:\n{lines}links: []\n")
    else:
        data = {"groups": {"a": 1}, "input": BoxList(names) if form == "box" else names, "links": []}
        (lab / "netlab.snapshot.pickle").write_bytes(pickle.dumps(data))


@pytest.mark.parametrize("form", ["yaml", "pickle", "box"])
def test_the_snapshot_names_it(lab: Path, form: str) -> None:
    (lab / "topology.yml").write_text("validate: {}\n")
    (lab / "01-ebgp.yml").write_text(TESTS)
    snapshot(lab, form, "01-ebgp.yml")
    assert netlab_source(lab) == Source("01-ebgp.yml")
    tests = netlab_tests(lab, ["h1", "h2"])
    assert (tests.asked, tests.file, tests.why_none) == (["t1"], "01-ebgp.yml", "")


@pytest.mark.parametrize("form", ["yaml", "pickle"])
@pytest.mark.parametrize("name", ["../elsewhere.yml", "/nowhere/x.yml", "gone.yml"])
def test_one_that_is_not_beside_the_lab_is_told(lab: Path, form: str, name: str) -> None:
    (lab.parent / "elsewhere.yml").write_text(TESTS)
    snapshot(lab, form, name)
    said = f"netlab made the lab of {name}, which is not in its directory; copy it there"
    assert netlab_tests(lab, ["h1", "h2"]).why_none == said


def test_a_pickle_is_not_loaded(lab: Path) -> None:
    made = lab / "made"
    (lab / "netlab.snapshot.pickle").write_bytes(f"cpathlib\nPath.touch\n(cpathlib\nPath\n(V{made}\ntRtR.".encode())
    netlab_source(lab)
    assert not made.exists()
    (lab / "netlab.snapshot.pickle").write_bytes(b"\x80\x04no pickle")
    assert netlab_source(lab).file is None


def test_without_a_snapshot_it_is_the_one_with_tests(lab: Path) -> None:
    (lab / "hosts.yml").write_text("validate:\n")
    (lab / "mine.yml").write_text(TESTS)
    assert netlab_source(lab) == Source("mine.yml")
    (lab / "topology.yml").write_text("nodes: [a]\n")
    assert netlab_source(lab) == Source("topology.yml"), "the usual name is first"


def test_what_nobody_can_know_is_said(lab: Path) -> None:
    do = "call netlab's topology topology.yml, beside the Containerlab file"
    assert netlab_source(lab) == Source(None, f"there is no topology.yml with them; {do}")
    for name in ("a.yml", "b.yaml"):
        (lab / name).write_text(TESTS)
    assert netlab_source(lab) == Source(None, f"it may be of a.yml, b.yaml; {do}")


def test_check_says_it(lab: Path) -> None:
    nodes = "h1: {exec: [ip addr add 10.0.0.1/24 dev eth1]}, h2: {exec: [ip addr add 10.0.0.2/24 dev eth1]}"
    (lab / "clab.yml").write_text(
        f"name: x\ntopology:\n  defaults: {{kind: linux, image: i}}\n  nodes: {{{nodes}}}\n"
        "  links: [{endpoints: ['h1:eth1', 'h2:eth1']}]\n"
    )
    said = "clab.yml: netlab's own validation is not asked: there is no topology.yml with them; call netlab's topology"
    assert any(warning.startswith(said) for warning in plan(lab / "clab.yml").warnings)


def test_a_lab_that_was_moved_is_found_by_its_name(lab: Path) -> None:
    (lab / "one.yml").write_text(TESTS)
    (lab / "two.yml").write_text(TESTS)
    snapshot(lab, "pickle", "/where/it/was/one.yml")
    assert netlab_source(lab) == Source("one.yml")


def test_netlabs_rules_are_not_its_input(lab: Path) -> None:
    """Before: of netlab 26.10's snapshot the rules were read, in which a first `input` is no list of files."""
    (lab / "one.yml").write_text(TESTS)
    (lab / "two.yml").write_text(TESTS)
    other = str(b"input", "ascii")  # Another object: a pickle has the same one only once.
    rules = {"attributes": {other: [f"rule-{number}" for number in range(60)]}}
    data = {"defaults": rules, "input": ["one.yml", DEFAULTS], "links": []}
    (lab / "netlab.snapshot.pickle").write_bytes(pickle.dumps(data))
    assert netlab_source(lab) == Source("one.yml")


def test_of_other_labs_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "host_vars" / "h1").mkdir(parents=True)
    (tmp_path / "host_vars" / "h1" / "vars.yml").write_text("a: 1\n")
    (tmp_path / "x.yml").write_text(TESTS)
    assert netlab_source(tmp_path) == Source(None)
