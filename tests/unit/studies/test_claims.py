"""Claims of studies: a published verdict follows from the published data; a claim that lacks something is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository import LABS, ROOT
from shipped_labs import shipped_lab
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.gallery.published import GalleryError
from fabriclab.studies.claims import DIRECTORY, read_studies, read_study, study_files
from fabriclab.studies.page import with_claims
from fabriclab.studies.verdicts import Data, judge

STUDIES = {study.study: study for study in read_studies(ROOT / DIRECTORY)}
PAGE = ROOT / "docs" / "studies.md"
ROWS = {"narrow": "2e8,1.9e8,2.1e8", "wide": "2e8,1e8,3e8", "alone": "2e8,,", "none": ",,"}
STUDY = """study: S9
title: T
source: S
claims:
  one:
    claim: C
    source: figure 1
    expected: E
    lab: mine
    tolerance: T
    shows: [{number: {matrix: demo, where: {case: CASE}, metric: goodput_bps, unit: Mbps}, BOUNDS}]
    verdict: agrees
"""
TABLE = (
    "{title: T, labs: [mine], metric: job_ns, unit: s, rows: case, columns: [{title: A}, {title: B}],"
    " figures: {a: [1, 2], b: [3]}}"
)


@pytest.fixture
def labs(tmp_path: Path) -> Path:
    """Labs of which one publishes a number with a narrow interval, with a wide one, of one run, and none."""
    (tmp_path / "mine" / "published").mkdir(parents=True)
    rows = "".join(f"{case},goodput_bps,{numbers},2e8,2e8,5\n" for case, numbers in ROWS.items())
    text = f"case,metric,mean,low,high,least,greatest,runs\n{rows}"
    (tmp_path / "mine" / "published" / "demo.csv").write_text(text)
    return tmp_path


def written(directory: Path, case: str = "alone", bounds: str = "above: 100", **replaced: str) -> Path:
    text = STUDY.replace("CASE", case).replace("BOUNDS", bounds)
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    (directory / "S9.yml").write_text(text)
    return directory / "S9.yml"


@pytest.mark.parametrize("study", STUDIES)
def test_a_published_verdict_follows_from_the_data(study: str) -> None:
    found = judge(STUDIES[study], Data(LABS))
    moved = {
        name: (one.claim.verdict, one.verdict, one.numbers) for name, one in found.items() if not one.is_as_published
    }
    assert moved == {}, "published, what the data say, and why; studies/*.yml has the verdicts"


def test_the_page_has_all_claims_as_they_are() -> None:
    text = PAGE.read_text()
    data = Data(LABS)
    made = with_claims(text, {name: (study, judge(study, data)) for name, study in STUDIES.items()})
    assert text == made, "`fabriclab studies --write` writes the page as it is made"


@pytest.mark.parametrize(
    ("case", "bounds", "verdict"),
    [
        ("narrow", "above: 150", "agrees"),
        ("narrow", "below: 150", "disagrees"),
        ("narrow", "above: 150, below: 250", "agrees"),
        ("narrow", "above: 150, below: 180", "disagrees"),
        ("wide", "above: 150", "undecided"),
        ("wide", "above: 350, below: 400", "disagrees"),
        ("alone", "above: 200", "disagrees"),
        ("alone", "above: 199.9", "agrees"),
        ("none", "above: 100", "undecided"),
        (
            "narrow",
            "above: {times: 0.5, number: {matrix: demo, where: {case: alone}, metric: goodput_bps, unit: Mbps}}",
            "agrees",
        ),
        (
            "narrow",
            "above: {number: {matrix: demo, where: {case: wide}, metric: goodput_bps, unit: Mbps}}",
            "undecided",
        ),
        (
            "narrow",
            "above: {number: {matrix: demo, where: {case: none}, metric: goodput_bps, unit: Mbps}}",
            "undecided",
        ),
        ("[narrow, wide]", "above: 150", "disagrees"),
    ],
)
def test_intervals_decide(labs: Path, tmp_path: Path, case: str, bounds: str, verdict: str) -> None:
    if case.startswith("["):
        study = read_study(written(tmp_path, case, bounds))
        with pytest.raises(GalleryError, match="S9, one: 2 points of mine, demo have goodput_bps"):
            judge(study, Data(labs))
        return
    found = judge(read_study(written(tmp_path, case, bounds)), Data(labs))["one"]
    assert (found.verdict, found.is_as_published) == (verdict, verdict == "agrees")


def test_numbers_are_told_with_their_intervals_and_bounds(labs: Path, tmp_path: Path) -> None:
    found = judge(read_study(written(tmp_path, "narrow", "above: 150, below: 250")), Data(labs))["one"]
    assert found.numbers == ("200 (190 to 210) Mbps, to be above 150 Mbps and below 250 Mbps",)


@pytest.mark.parametrize(
    ("replaced", "told"),
    [
        (
            {"verdict: agrees": "verdict: disagrees"},
            "S9.yml:5: claims.one: the verdict is `disagrees`, so `why`",
        ),
        ({"verdict: agrees": "verdict: undecided"}, "so `would_decide` and `cost` must say"),
        ({"    tolerance: T\n": ""}, "`shows` needs `lab`, whose numbers they are, and `tolerance`"),
        ({"above: 100": "unit: 1"}, "claims.one.shows.0.unit"),
        ({", above: 100": ""}, "a comparison without a bound holds always; write above, below, or both"),
        ({"unit: Mbps": "unit: KB"}, "unit 'KB' does not fit goodput_bps; write one of: Gbps, Mbps"),
        ({"claims:": "claims: ["}, "S9.yml:6: "),
        (
            {
                "    lab: mine\n": "",
                "shows: [{number: ": "beside: [",
                ", above: 100}": "",
                "verdict: agrees": "verdict: undecided\n    would_decide: W\n    cost: C",
            },
            "S9.yml:5: claims.one: `beside` needs `lab`, whose runs have these numbers",
        ),
        (
            {"claims:": f"tables: [{TABLE}]\nclaims:"},
            "S9.yml:4: tables.0: figures.b has 1 of 2 figures; write one for each column",
        ),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_line(tmp_path: Path, replaced: dict[str, str], told: str) -> None:
    with pytest.raises(GalleryError) as error:
        read_study(written(tmp_path, **replaced))
    assert told in str(error.value)


def test_a_number_that_nobody_publishes_is_named(labs: Path, tmp_path: Path) -> None:
    study = read_study(written(tmp_path, **{"matrix: demo": "matrix: other"}))
    with pytest.raises(GalleryError, match="S9, one: mine: publishes no matrix other"):
        judge(study, Data(labs))


def test_the_command_prints_a_study_and_refuses_one_that_is_not() -> None:
    shown = CliRunner().invoke(app, ["studies", "s4"])
    assert shown.exit_code == 0 and "In-cast collapse" in shown.output and "disagrees" in shown.output
    wrong = CliRunner().invoke(app, ["studies", "S9"])
    assert wrong.exit_code == 2 and f"write one of: {', '.join(STUDIES)}" in wrong.output


def test_each_study_has_its_file() -> None:
    assert [file.stem for file in study_files(ROOT / DIRECTORY)] == list(STUDIES)


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_is_whole(study: str) -> None:
    """Each lab that it names is there, and each lab that names it has numbers or tables of it."""
    whole = STUDIES[study]
    labs = {lab.parent.name for lab in LABS.glob("*/experiment.yml")}
    named = {claim.lab for claim in whole.claims.values() if claim.lab}
    named |= {*whole.setups, *(lab for table in whole.tables for lab in table.labs)}
    assert named <= labs
    assert [lab for lab in labs if shipped_lab(lab).experiment.study == study and not whole.concerns(lab)] == []
