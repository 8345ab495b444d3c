"""A short run of `make fuzz`, always the same one, and what long ones found.

Every mutant is sound, or refused with clean sentences.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from bundle_subjects import bundle_subjects, plan_subjects
from campaign import run_cases, unclean
from mutations import mutated_json, mutated_lines
from subjects import ROOT, LabSubject, Subject, lab_files, subjects
from watched_writes import CANARY, in_its_own_process, written_outside
from yaml_mutations import mutated_yaml

from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.reading.document import ScalarValue, parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.vendors.arista.profile import import_qos, parse_config_text, read_chip

CASES = {"labs": 90, "plans": 120, "bundles": 16}
"""Two of each subject at least: some five seconds of CPU time each."""
SUBJECTS: dict[str, Callable[[], Sequence[Subject]]] = {
    "labs": subjects,
    "plans": plan_subjects,
    "bundles": bundle_subjects,
}


def check_mutants(kind: str) -> None:
    outcomes = list(run_cases(CASES[kind], seed=12, every=SUBJECTS[kind]()))
    assert [
        (outcome.number, outcome.subject, outcome.kind, outcome.detail) for outcome in outcomes if outcome.is_finding
    ] == []
    assert {outcome.kind for outcome in outcomes} == {"sound", "refused"}


@pytest.mark.slow("reads hundreds of mutants")
def test_mutants_of_labs_are_sound_or_refused() -> None:
    check_mutants("labs")


def check_mutants_of_plans_and_bundles() -> None:
    check_mutants("plans")
    check_mutants("bundles")


@pytest.mark.slow("reads hundreds of mutants")
def test_mutants_of_plans_and_bundles_are_sound_or_refused() -> None:
    """In a process of its own, for it is watched that they write nothing elsewhere."""
    in_its_own_process(check_mutants_of_plans_and_bundles)


def test_a_campaign_finds_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A reader that breaks is a finding with its place, and the files are kept;
    so is a sentence that shows the program's inside."""

    def broken(path: Path) -> None:
        raise KeyError(path)

    def unclear(path: Path) -> None:
        raise LabError([])

    monkeypatch.setattr("subjects.parse_lab", broken)
    every = subjects()
    (first,) = run_cases(1, seed=1, keep=tmp_path, every=every)
    assert first.kind.startswith("KeyError at ") and "broken" in first.kind
    assert (tmp_path / "0" / "experiment.yml").is_file() and "KeyError" in (tmp_path / "0.txt").read_text()
    monkeypatch.setattr("subjects.parse_lab", unclear)
    assert [outcome.kind for outcome in run_cases(1, seed=1, every=every)] == ["message is empty"]
    assert unclean("f:1: fine\n<x object at 0x7f>") == "shows the program's inside"


def test_a_campaign_sees_what_is_written_outside(tmp_path: Path) -> None:
    beside, link, inside = in_its_own_process(written_outside, tmp_path)
    assert "mine/../beside" in beside and "mine/link/x" in link and inside == ""
    assert not list(tmp_path.rglob(f"{CANARY}*"))


@pytest.mark.parametrize("subject", subjects(), ids=lambda subject: subject.name)
def test_what_is_mutated_is_sound_itself(subject: object, tmp_path: Path) -> None:
    """Else every mutant of it would be refused, and its fuzzing would find nothing."""
    if isinstance(subject, LabSubject):
        for name, text in subject.files.items():
            (tmp_path / name).write_text(text)
        parse_lab(tmp_path)


@pytest.mark.parametrize("mutate", [mutated_yaml, mutated_json, mutated_lines])
def test_a_mutant_follows_from_its_seed_and_differs(mutate: object) -> None:
    assert callable(mutate)
    text = '{"a": {"b": [1, "h1", "x y"], "c": "64 KB"}, "d": {"e": "1 Gbps"}}'
    made = [mutate(text, random.Random(seed)) for seed in range(100)]
    assert made == [mutate(text, random.Random(seed)) for seed in range(100)]
    assert len(set(made)) > 20


def write_lab(directory: Path, name: str, old: str, new: str) -> Path:
    """Write one of our labs with a change in its topology."""
    for file, text in lab_files(ROOT / "labs" / name).items():
        (directory / file).write_text(text.replace(old, new, 1) if file == "topology.clab.yml" else text)
    return directory


@pytest.mark.parametrize("name", ["query-mix", "leaf-spine", "buffers", "incast"])
def test_a_mistyped_nodes_is_the_one_thing_said(name: str, tmp_path: Path) -> None:
    """Before: `min() arg is an empty sequence`, for a query has no hosts then."""
    with pytest.raises(LabError) as caught:
        parse_lab(write_lab(tmp_path, name, "\n  nodes:", "\n  node:"))
    said = [problem for problem in caught.value.mistakes if problem.key == "topology.node"]
    assert [problem.message for problem in said] == ["unknown key; did you mean 'nodes'?"]
    assert not [problem for problem in caught.value.mistakes if "of 0 hosts" in problem.message]


def test_a_sonic_switch_without_links(tmp_path: Path) -> None:
    """Before: an IndexError, for a profile of no port has no first one."""
    spare = "    spare: {group: leaf, binds: ['leaf1.json:/var/sonic/config_db.json']}\n"
    with pytest.raises(
        LabError, match=r"topology\.nodes\.spare: has no link; add one below topology\.links or remove the node"
    ):
        parse_lab(write_lab(tmp_path, "sonic-leaf-spine", "    h1: {", f"{spare}    h1: {{"))


def test_an_arista_interface_without_a_name() -> None:
    text = (
        b"interface\n   tx-queue 1\n      random-detect ecn minimum-threshold 128 kbytes maximum-threshold 1280 "
        b"kbytes\n"
    )
    with pytest.raises(LabError, match=r"leaf\.cfg:1: interface: an interface has a name"):
        import_qos(parse_config_text(text, "leaf.cfg"), read_chip("trident-3"), None)


def test_a_lab_with_half_a_character(tmp_path: Path) -> None:
    """Before: a UnicodeEncodeError where the plan is written."""
    for name, text in lab_files(ROOT / "labs" / "incast").items():
        (tmp_path / name).write_text(re.sub(r"(?m)^title: .*", r'title: "half \\ud800"', text))
    with pytest.raises(LabError, match=r"title: 'half \\ud800' has half a character"):
        parse_lab(tmp_path)


def test_an_anchor_that_stands_twice_is_no_warning_of_pythons(tmp_path: Path) -> None:
    problems = Problems()
    value = parse_document("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "f.yml", problems)
    assert value is not None
    assert [one.text for one in value.entries.values() if isinstance(one, ScalarValue)] == ["1", "1", "2", "2"]
    assert problems.found() == []
