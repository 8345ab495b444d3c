"""What labs publish: every README has what its data say, data and pages are made of runs, and bad files are named."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from published_labs import PAGE, PUBLISHED
from repository import LABS
from synthetic_run import incast_run, write_sweep

from fabriclab.api.matrix_plans import first_plans, resolver_of
from fabriclab.cli.commands.figures import outdated, publish
from fabriclab.formats.published_files import FILE
from fabriclab.gallery.data import Row, data_file, read_rows, read_sources, write_data
from fabriclab.gallery.moved import in_words, moves
from fabriclab.gallery.plans import plans_digest
from fabriclab.gallery.published import GalleryError, is_published, read_published
from fabriclab.gallery.readme import README, differences, generated
from fabriclab.gallery.tables import markdown
from fabriclab.results import ingest_run, read_run

PUBLISHING = sorted(lab for lab in LABS.iterdir() if is_published(lab))


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A lab that publishes a table, a sentence and a picture, and has no data yet."""
    found = tmp_path / "mine"
    found.mkdir()
    (found / FILE).write_text(PUBLISHED)
    (found / README).write_text(PAGE)
    return found


def swept(directory: Path, rounds: int = 8, seeds: int = 1) -> Path:
    """A sweep of one sender and eight, with CUBIC and DCTCP."""
    points = []
    for variant in ("cubic", "dctcp"):
        for senders in (1, 8):
            for seed in range(1, seeds + 1):
                run = f"points/{variant}-{senders}-{seed}"
                incast_run(directory / run, senders, variant, rounds=rounds + seed - 1)
                ingest_run(directory / run)
                settings = {"variant": variant, "senders": senders, **({"seed": seed} if seeds > 1 else {})}
                points.append({"settings": settings, "seed": seed, "run": run, "status": "complete"})
    return write_sweep(directory, "incast", "demo", "TCP in-cast collapse", points)


@pytest.mark.parametrize("published", PUBLISHING, ids=lambda path: path.name)
def test_a_readme_has_what_its_data_say(published: Path) -> None:
    assert differences(published) == [], f"make figures LAB={published.name} writes both"


@pytest.mark.parametrize("published", PUBLISHING, ids=lambda path: path.name)
@pytest.mark.no_cover
def test_data_are_of_the_lab_as_it_is_or_say_so(published: Path) -> None:
    assert outdated(published) == [], f"make figures LAB={published.name} measures again"


def test_some_labs_publish() -> None:
    assert {"dctcp-queue", "incast"} <= {path.name for path in PUBLISHING}


@pytest.mark.slow("measures a matrix with a stand-in and draws its pictures")
def test_data_page_and_pictures_come_from_the_runs(lab: Path, tmp_path: Path) -> None:
    directory = swept(tmp_path / "sweep")
    said = publish(lab, read_published(lab), {"demo": directory})
    page = (lab / README).read_text()
    goodput = {
        (
            variant,
            senders,
        ): f"{float(read_run(directory / f'points/{variant}-{senders}-1').summary['goodput_bps'] or 0) / 1e6:.0f}"
        for variant in ("cubic", "dctcp")
        for senders in (1, 8)
    }
    assert "| variant | 1 | 8 senders |" in page
    assert f"| CUBIC | {goodput['cubic', 1]} | **{goodput['cubic', 8]}** |" in page
    assert f"| dctcp | {goodput['dctcp', 1]} | {goodput['dctcp', 8]} |" in page
    assert f"CUBIC has {goodput['cubic', 8]}\nMbps with eight senders." in page
    assert "with Linux 6.12.48: the tables whose data are in `published/`." in page
    assert (lab / "goodput.svg").read_text().lstrip().startswith("<svg")
    assert "4 numbers: 0 the same to the bit" in said and "4 are new" in said
    assert differences(lab) == []
    before = {path: path.read_bytes() for path in lab.rglob("*") if path.is_file()}
    assert "4 the same to the bit, 0 within" in publish(lab, read_published(lab), {"demo": directory})
    assert {path: path.read_bytes() for path in lab.rglob("*") if path.is_file()} == before
    longer = swept(tmp_path / "other", rounds=9)
    said = publish(lab, read_published(lab), {"demo": longer})
    assert re.search(r"\| demo \| senders 8, variant cubic \| goodput_bps \| [\d,.e+]+ \| [\d,.e+]+ \|", said)
    (lab / README).write_text((lab / README).read_text().replace("| CUBIC |", "| Cubic |"))
    (line,) = differences(lab)
    assert line.startswith(f"{lab / README}:") and "the data say '| CUBIC |" in line


def test_seeds_give_intervals_ranges_and_changes(lab: Path, tmp_path: Path) -> None:
    text = PUBLISHED.replace("    bold: {cubic: [8]}\n", "").replace(
        "      - {metric: goodput_bps, unit: Mbps}\nsentences",
        "      - {metric: goodput_bps, unit: Mbps, digits: 3, form: range}\n"
        "      - {metric: goodput_bps, against: {variant: cubic}, unit: '%', digits: 3, form: interval}\nsentences",
    )
    (lab / FILE).write_text(text)
    publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep", seeds=3)})
    page = (lab / README).read_text()
    assert re.search(r"\| CUBIC \| 798.155 \|  \| [\d.]+ \([\d.]+ to [\d.]+\) \|  \|", page), page
    assert re.search(r"\| dctcp \| .*\| [+-][\d.]+ \[[+-][\d.]+, [+-][\d.]+\]", page), page
    assert {row.runs for row in read_rows(lab, "demo") if row.metric == "goodput_bps"} == {3}


def test_a_table_is_of_some_points(lab: Path, tmp_path: Path) -> None:
    publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep")})
    data = {"demo": read_rows(lab, "demo")}
    for where, rows, columns in (
        ("{variant: dctcp}", ["dctcp"], ["1", "8 senders"]),
        ("{variant: [cubic, dctcp], senders: [8]}", ["CUBIC", "dctcp"], ["8 senders"]),
    ):
        text = PUBLISHED.replace("    rows: [variant]\n", f"    rows: [variant]\n    where: {where}\n")
        (lab / FILE).write_text(text)
        lines = markdown("goodput", read_published(lab).tables["goodput"], data).splitlines()
        assert lines[0] == f"| variant | {' | '.join(columns)} |"
        assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]] == rows


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("{variant: [dctcp, reno]}", "table goodput: where: no published point has variant reno"),
        ("{variant: reno}", "table goodput: no published point of matrix demo fits it"),
    ],
)
def test_a_table_of_points_that_are_not_there_is_refused(lab: Path, tmp_path: Path, where: str, said: str) -> None:
    publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep")})
    data = {"demo": read_rows(lab, "demo")}
    (lab / FILE).write_text(PUBLISHED.replace("    rows: [variant]\n", f"    rows: [variant]\n    where: {where}\n"))
    with pytest.raises(GalleryError, match=re.escape(said)):
        markdown("goodput", read_published(lab).tables["goodput"], data)


def test_shares_of_counts_and_flows_of_some_sizes(lab: Path, tmp_path: Path) -> None:
    """Three seeds have 8, 9 and 10 rounds; all flows have 256,000 bytes."""
    cells = (
        "      - {metric: flows_with_timeouts, share_of: flows, unit: '%', digits: 2, form: interval}\n"
        "      - {metric: 'fct_mean_ns[sru]', above: 10 KB, up_to: 1 MB, unit: ms, digits: 4, form: range}\n"
        "      - {metric: 'fct_p99_ns[sru]', up_to: 10 KB, unit: ms}\nsentences"
    )
    text = PUBLISHED.replace("    bold: {cubic: [8]}\n", "")
    (lab / FILE).write_text(text.replace("      - {metric: goodput_bps, unit: Mbps}\nsentences", cells))
    directory = swept(tmp_path / "sweep", seeds=3)
    publish(lab, read_published(lab), {"demo": directory})
    runs = [read_run(directory / f"points/cubic-8-{seed}") for seed in (1, 2, 3)]
    waited, flows = (sum(int(run.summary[name] or 0) for run in runs) for name in ("flows_with_timeouts", "flows"))
    times = pl.concat([run.flows.select("fct_ns").collect() for run in runs])["fct_ns"]
    found = {
        (row.settings["senders"], row.metric): row
        for row in read_rows(lab, "demo")
        if row.settings["variant"] == "cubic"
    }
    share = found["8", "flows_with_timeouts of flows"]
    mean = found["8", "fct_mean_ns[sru] above 10 KB up to 1 MB"]
    assert share.numbers["mean"] == waited / flows > 0 and share.runs == 3
    assert mean.numbers["mean"] == pytest.approx(times.mean(), rel=1e-12)
    assert mean.numbers["least"] == min(float(run.summary["fct_mean_ns"] or 0) for run in runs)
    assert found["8", "fct_p99_ns[sru] up to 10 KB"].numbers == dict.fromkeys(
        ("mean", "low", "high", "least", "greatest")
    )
    assert differences(lab) == []


def test_changes_of_flows_of_some_sizes_are_seed_by_seed(lab: Path, tmp_path: Path) -> None:
    """All flows have 256,000 bytes."""
    against = "against: {variant: cubic}, unit: '%', digits: 1, form: interval}\n"
    cells = (
        f"      - {{metric: 'fct_mean_ns[sru]', above: 10 KB, up_to: 1 MB, {against}"
        f"      - {{metric: 'fct_mean_ns[sru]', {against}"
        f"      - {{metric: 'fct_mean_ns[sru]', up_to: 10 KB, {against}sentences"
    )
    text = PUBLISHED.replace("    bold: {cubic: [8]}\n", "")
    (lab / FILE).write_text(text.replace("      - {metric: goodput_bps, unit: Mbps}\nsentences", cells))
    publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep", seeds=3)})
    found = {
        row.metric: row
        for row in read_rows(lab, "demo")
        if (row.settings["senders"], row.settings["variant"]) == ("8", "dctcp")
    }
    sized = found["fct_mean_ns[sru] above 10 KB up to 1 MB against variant=cubic"]
    every = found["fct_mean_ns[sru] against variant=cubic"]
    assert sized.runs == every.runs == 3
    assert {name: pytest.approx(value, rel=1e-9) for name, value in every.numbers.items()} == sized.numbers
    assert found["fct_mean_ns[sru] up to 10 KB against variant=cubic"].runs == 0


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("{metric: goodput_bps, above: 1 KB, unit: Mbps}", "goodput_bps can't be of some sizes only; completion times"),
        ("{metric: 'fct_mean_ns[sru]', above: 1 apple, unit: ms}", "1 apple"),
        ("{metric: flows, share_of: goodput_bps, unit: '%'}", "flows of goodput_bps: a share needs two counts"),
        ("{metric: timeouts, share_of: flows}", "unit '' does not fit timeouts of flows; write one of: %"),
        (
            "{metric: timeouts, share_of: flows, against: {variant: cubic}, unit: '%'}",
            "against and share_of don't go together",
        ),
    ],
)
def test_quantities_that_make_no_sense_are_named(lab: Path, cell: str, said: str) -> None:
    (lab / FILE).write_text(PUBLISHED.replace("{metric: goodput_bps, unit: Mbps}\nsentences", f"{cell}\nsentences"))
    with pytest.raises(GalleryError, match=re.escape(said)) as caught:
        read_published(lab)
    assert str(caught.value).startswith(f"{lab / FILE}:12:")


def test_points_that_are_not_done_are_not_published(lab: Path, tmp_path: Path) -> None:
    directory = swept(tmp_path / "sweep")
    sweep = json.loads((directory / "sweep.json").read_text())
    sweep["points"][0]["status"] = "failed"
    (directory / "sweep.json").write_text(json.dumps(sweep))
    manifest = directory / "points/cubic-1-1/manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"status": "failed"}))
    with pytest.raises(GalleryError, match=r"1 of 4 points are not done"):
        publish(lab, read_published(lab), {"demo": directory})
    assert (lab / README).read_text() == PAGE
    assert not (lab / "published").exists()


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("demo: {}", "demo: {seed: 2}"), 2, "matrices.demo.seed: Extra inputs are not permitted"),
        (("unit: Mbps}\nsent", "unit: KB}\nsent"), 12, "unit 'KB' does not fit goodput_bps; write one of: Gbps, Mbps"),
        (("matrices: [demo]", "matrices: [all]"), 1, "matrix 'all' is not published here; write one of: demo"),
        (("has {} Mbps", "has Mbps"), 14, "has 0 places {} and 1 values"),
        (("rows: [variant]", "rows: ["), 7, ""),
    ],
)
def test_what_is_wrong_in_the_file_is_named(lab: Path, change: tuple[str, str], line: int, said: str) -> None:
    assert change[0] in PUBLISHED
    (lab / FILE).write_text(PUBLISHED.replace(*change))
    with pytest.raises(GalleryError) as error:
        read_published(lab)
    assert re.match(rf"{re.escape(str(lab / FILE))}:\d+: ", str(error.value)), error.value
    assert said in str(error.value)
    if said:
        assert str(error.value).startswith(f"{lab / FILE}:{line}: "), error.value


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<!-- table: goodput -->", "<!-- table: delay -->", "published.yml has no such entry; it has: made from"),
        ("<!-- made from -->\n<!-- end -->", "", "'made from' occurs 0 times"),
        ("CUBIC has", "DCTCP has", "'CUBIC has {} Mbps' occurs 0 times"),
    ],
)
def test_what_has_no_place_in_the_page_is_named(lab: Path, tmp_path: Path, old: str, new: str, said: str) -> None:
    (lab / README).write_text(PAGE.replace(old, new))
    with pytest.raises(GalleryError, match=re.escape(said)):
        publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep")})
    assert (lab / README).read_text() == PAGE.replace(old, new)


def test_a_picture_that_the_report_has_not_is_named(lab: Path, tmp_path: Path) -> None:
    (lab / FILE).write_text(PUBLISHED.replace("goodput-against-senders.svg", "nothing.svg"))
    with pytest.raises(GalleryError, match=r"has no nothing.svg; it has .*goodput-against-senders.svg"):
        publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep")})


def test_a_data_file_that_is_broken_is_named_with_its_line(lab: Path, tmp_path: Path) -> None:
    with pytest.raises(GalleryError, match="not measured yet"):
        differences(lab)
    publish(lab, read_published(lab), {"demo": swept(tmp_path / "sweep")})
    path = data_file(lab, "demo")
    path.write_text(path.read_text().replace("goodput_bps,", "goodput_bps,x", 1))
    with pytest.raises(GalleryError, match=rf"{re.escape(str(path))}:\d+: .*make the file anew"):
        differences(lab)
    path.write_text("a,b\n")
    with pytest.raises(GalleryError, match=r"csv:1: 'a,b' does not end with metric"):
        differences(lab)


def row(mean: float, low: float | None = None, high: float | None = None, runs: int = 1) -> Row:
    numbers = {"mean": mean, "low": low, "high": high, "least": mean, "greatest": mean}
    return Row({"senders": "2"}, "goodput_bps", numbers, runs)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (row(1.0), row(1.0), "same"),
        (row(1.0), row(1.1), "moved"),
        (row(1.0, 0.8, 1.2, 5), row(1.1, 0.9, 1.3, 5), "within"),
        (row(1.0, 0.8, 1.2, 5), row(1.3, 1.1, 1.5, 5), "moved"),
    ],
)
def test_a_number_has_moved_that_left_its_interval(old: Row, new: Row, verdict: str) -> None:
    (move,) = moves("demo", [old], [new])
    assert move.verdict == verdict
    assert ("| demo | senders 2 |" in in_words("mine", [move])) == (verdict == "moved")


def test_numbers_that_come_and_go_are_counted() -> None:
    assert [move.verdict for move in moves("demo", [row(1.0)], [])] == ["gone"]
    found = moves("demo", [], [row(1.0)])
    assert [move.verdict for move in found] == ["new"]
    assert "1 are new, 0 are no longer published" in in_words("mine", found)


def test_superseded_data_say_so_until_they_are_measured_again(lab: Path, tmp_path: Path) -> None:
    """The page has the sentence, a check accepts it, and a new measurement removes it from both files."""
    directory = swept(tmp_path / "sweep")
    publish(lab, read_published(lab), {"demo": directory})
    (lab / FILE).write_text("superseded: links had no delay\n\n" + (lab / FILE).read_text())
    with pytest.raises(GalleryError, match="the region of 'superseded' occurs 0 times"):
        differences(lab)
    page = (lab / README).read_text()
    (lab / README).write_text(page.replace("# A lab\n", "# A lab\n\n<!-- superseded -->\n<!-- end -->\n"))
    (lab / README).write_text(generated(lab, read_published(lab), {"demo": read_rows(lab, "demo")}, read_sources(lab)))
    said = "\n*The figures on this page are to be measured again: links had no delay.*\n"
    assert said in (lab / README).read_text() and differences(lab) == []
    assert outdated(lab) == []
    publish(lab, read_published(lab), {"demo": directory})
    assert (lab / FILE).read_text() == PUBLISHED
    assert (lab / README).read_text() == page
    assert differences(lab) == []


def test_data_of_other_plans_are_named(tmp_path: Path) -> None:
    """A digest of the plans that were run goes with the data; a lab with another queue has other plans."""
    directory = tmp_path / "lab"
    shutil.copytree(LABS / "dctcp-queue", directory)
    # As measured before there were such digests.
    of_old = {name: replace(source, plans="") for name, source in read_sources(directory).items()}
    write_data(directory, {name: (read_rows(directory, name), source) for name, source in of_old.items()})
    named = [
        f"{directory / 'published'}: matrix {name} was measured before" for name in read_published(directory).matrices
    ]
    assert [line.split(" the lab")[0] for line in outdated(directory)] == named
    resolver = resolver_of(directory)
    digests = {
        name: plans_digest(first_plans(resolver, name, range(1, (matrix.seeds or 0) + 1)))
        for name, matrix in read_published(directory).matrices.items()
    }
    sources = {name: replace(source, plans=digests[name]) for name, source in read_sources(directory).items()}
    write_data(directory, {name: (read_rows(directory, name), source) for name, source in sources.items()})
    assert outdated(directory) == []
    lab_file = directory / "experiment.yml"
    lab_file.write_text(lab_file.read_text().replace("title: Queue", "title: The queue"))
    assert outdated(directory) == []
    lab_file.write_text(lab_file.read_text().replace("buffer: 700 KB", "buffer: 701 KB"))
    assert [line.split(" the lab")[0] for line in outdated(directory)] == named
