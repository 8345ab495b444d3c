"""What is judged and concerns nothing is an error, wherever it is asked: it is never a pass."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fake_machine
import pytest
from rich.console import Console
from shipped_labs import shipped_lab, shipped_resolver
from synthetic_run import incast_run, incast_sweep
from typer.testing import CliRunner

import fabriclab
from fabriclab.api.idle_wishes import refuse_idle_wishes
from fabriclab.cli.app import app
from fabriclab.cli.commands.outcome import show_checks
from fabriclab.cli.text.junit import junit_xml
from fabriclab.formats.where_clause import concerns
from fabriclab.lab import LabError, parse_lab
from fabriclab.report.drawing.lab_points import points_of
from fabriclab.resolve import Resolver
from fabriclab.resolve.points import plans_of_points, settings_of_points
from fabriclab.results import evaluate_checks, read_run, unasked_checks
from fabriclab.studies.claims import DIRECTORY, Multiple, Study, read_studies
from fabriclab.studies.verdicts import of_lab

LABS = Path(__file__).parents[2] / "labs"
TOPOLOGY = """name: pair
topology:
  nodes:
    a: {kind: linux}
    b: {kind: linux}
    s: {kind: linux, labels: {fabriclab.role: switch}}
  links:
    - {endpoints: ["a:eth1", "s:eth1"], vars: {rate: 1 Gbps, delay: 5 us}}
    - {endpoints: ["b:eth1", "s:eth2"], vars: {rate: 1 Gbps, delay: 5 us}}
"""
EXPERIMENT = """title: a pair
traffic:
  long: {kind: long, senders: [a], receiver: b, stop: 10 ms}
parameters:
  ring: hosts.default.nic.ring
  marks: switches.default.queues.3.wred.min
  buffer: switches.default.buffer
  stop: traffic.long.stop
  run: seed
switches:
  default: {buffer: 64 KB}
variants:
  cubic: {hosts.default.congestion_control: cubic}
  dctcp: {hosts.default.congestion_control: dctcp, hosts.default.ecn: on}
matrix:
  buffers: {buffer: [32 KB, 64 KB], seed: 1..3}
  times: {stop: [10 ms, 20 ms]}
checks:
  - {metric: goodput_bps, operator: ">", value: 1 bps}
"""
COMMANDS = ("check", "sweep", "validate")


def write(directory: Path, more: str, *, experiment: str = EXPERIMENT) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "experiment.yml").write_text(experiment + more)
    return directory


def check_of(where: str) -> str:
    return f"  - {{metric: goodput_bps, operator: '>', value: 5 Gbps, where: {where}}}\n"


def call(*words: str | Path) -> Any:
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture(autouse=True)
def _no_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab that is not refused begins to run, and the stand-in of the machine ends at once."""
    monkeypatch.chdir(tmp_path)
    found = fake_machine.artefacts(tmp_path, fake_machine.EPOCH + fake_machine.END)
    monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: found)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("where", "said"),
    [
        (
            "{marks: 24 KB}",
            "no point of the lab has marks 24 KB, so it is never asked; the points have no marks that can be "
            "compared; write switches.default.queues.3.wred.min in the experiment, or marks in a matrix",
        ),
        ("{ring: 48 KB}", "no point of the lab has ring 48 KB, so it is never asked; the points have ring 24 KB"),
        (
            "{buffer: 48 KB}",
            "no point of the lab has buffer 48 KB, so it is never asked; the points have buffer 32 KB, 64 KB",
        ),
        (
            "{buffer: 32 KB, stop: 20 ms}",
            "no point of the lab has buffer 32 KB, stop 20 ms, so it is never asked; the points have buffer 32 KB, "
            "64 KB; stop 10 ms, 20 ms",
        ),
    ],
)
def test_a_check_that_concerns_no_point_is_refused(tmp_path: Path, command: str, where: str, said: str) -> None:
    lab = write(tmp_path / "lab", check_of(where))
    line = EXPERIMENT.count("\n") + 1
    result = call(command, lab)
    assert result.exit_code == 2, result.output
    assert result.stderr == f"{lab}/experiment.yml:{line}: checks[1].where: {said}\n"
    assert "pass" not in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_figure_that_concerns_no_point_is_refused(tmp_path: Path, command: str) -> None:
    lab = write(tmp_path / "lab", "report:\n  figures:\n    - {kind: throughput, where: {buffer: [8 KB, 16 KB]}}\n")
    result = call(command, lab)
    assert result.exit_code == 2
    assert "report.figures[0].where: no point of the lab has buffer 8 KB or 16 KB, so it is never drawn" in (
        result.stderr
    )


@pytest.mark.parametrize(
    "where",
    [
        "{buffer: 64 KB}",
        "{buffer: 0.032 MB}",
        "{variant: dctcp}",
        "{variant: dctcp, buffer: 32 KB}",
        "{stop: 20 ms, buffer: 64 KB}",
        "{run: 3}",
        "{ring: 24000 B}",
    ],
)
def test_a_check_of_any_point_of_the_lab_is_taken(tmp_path: Path, where: str) -> None:
    """The points are the bare lab, a variant, those of any matrix, these with a variant, and a seed."""
    result = call("check", write(tmp_path / "lab", check_of(where)))
    assert result.exit_code == 0, result.output


IDLE = "checks[1].where: no point of the lab fits, so nothing is checked there; `fabriclab check` says why"


def test_a_point_that_is_run_counts_though_no_matrix_has_it(tmp_path: Path) -> None:
    lab = write(tmp_path / "lab", check_of("{buffer: 48 KB}"))
    assert IDLE not in call("run", lab, "--set", "buffer=48 KB", "--no-report", "--out", "own").output
    assert IDLE in call("run", lab, "--no-report", "--out", "bare").output


def test_run_refuses_what_no_setting_could_meet(tmp_path: Path) -> None:
    """The value of `marks` is known nowhere: the check would pass by not applying, whatever is set."""
    result = call("run", write(tmp_path / "lab", check_of("{marks: 24 KB}")), "--no-report")
    assert result.exit_code == 2
    assert "checks[1].where: no point of the lab has marks 24 KB, so it is never asked" in result.stderr


def asking(run: Path, *wheres: Mapping[str, str | int]) -> Path:
    """Give a finished run these checks, and no others."""
    plan = json.loads((run / "plan.json").read_text())
    plan["checks"] = [{"metric": "goodput_bps", "operator": ">", "value": 1, "where": dict(where)} for where in wheres]
    (run / "plan.json").write_text(json.dumps(plan))
    return run


def test_checks_of_other_points_are_told_as_not_asked(tmp_path: Path) -> None:
    """The exit status is that of the checks that were asked; what was not asked is counted nowhere as a pass."""
    run = read_run(asking(incast_run(tmp_path / "run", 4), {"senders": 4}, {"senders": 8}, {"senders": 16}))
    assert [check.outcome for check in evaluate_checks(run)] == ["pass"]
    assert [check.where for check in unasked_checks([run])] == [{"senders": 8}, {"senders": 16}]


@pytest.mark.parametrize(
    ("wheres", "said"),
    [
        (
            [{"senders": 4}, {"senders": 8}, {"senders": 16}],
            ["pass: goodput_bps > 1 bps: 901 Mbps  (senders 4)", "2 checks of other points, not asked here"],
        ),
        ([{"senders": 8}], ["no check was asked here: the lab has 1 check of other points"]),
        ([], []),
    ],
)
def test_the_terminal_tells_what_was_not_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wheres: list[dict[str, str | int]], said: list[str]
) -> None:
    run = read_run(asking(incast_run(tmp_path / "run", 4), *wheres))
    assert show_checks(Console(), [run])
    assert capsys.readouterr().out.splitlines() == said


def test_a_report_of_points_of_which_no_check_is_says_so(tmp_path: Path) -> None:
    asking(incast_run(tmp_path / "run", 4), {"senders": 8})
    page = fabriclab.open_run(tmp_path / "run").write_report(tmp_path / "page.html").read_text()
    assert "none of 1 checks asked here" in page
    assert '<span class="outcome not-asked">not asked here</span>' in page


WANTED = {
    "queues: {0: 1}": "no switch has a shared buffer",
    "thresholds: {0: 30 KB}": "no two hosts can fill a port of a switch with a shared buffer",
    "lossless: [3]": "no two hosts can fill a port of a switch with a shared buffer",
    "failure: {recovery: 1 s}": "no link between switches can fail without cutting a host off",
    "pings: {one: {from: [a], to: b}}": "asked only with routing: as-configured; here the plan determines which nodes",
    "routes: {one: {on: [s], table: rib, prefix: 10.0.0.0/24}}": "asked only with routing: as-configured; here the",
    "sessions: {one: {on: [s], protocol: bgp, neighbor: 10.0.0.1}}": "asked only with routing: as-configured",
}


@pytest.mark.parametrize("wish", WANTED)
def test_a_wish_that_nothing_answers_to_is_refused(tmp_path: Path, wish: str) -> None:
    lab = write(tmp_path / "lab", f"validation:\n  mtu: 1500\n  {wish}\n")
    line = EXPERIMENT.count("\n") + 3
    key = wish.partition(":")[0]
    for command in ("check", "validate"):
        result = call(command, lab)
        assert result.exit_code == 2, result.output
        said = (
            f"{lab}/experiment.yml:{line}: validation.{key}: the lab has nothing that this applies to: {WANTED[wish]}"
        )
        assert result.stderr.startswith(said), result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_wish_that_one_point_answers_to_is_taken(tmp_path: Path) -> None:
    plain = parse_lab(write(tmp_path / "plain", "validation:\n  queues: {0: 0}\n"))
    experiment = EXPERIMENT.replace("{buffer: 64 KB}", "{profile: trident-3}")
    without_buffer = re.sub("  buffers?: .*\n", "", experiment)
    shared = parse_lab(write(tmp_path / "shared", "", experiment=without_buffer))
    without, having = (Resolver(lab).resolve({}) for lab in (plain, shared))
    refuse_idle_wishes(plain, [without, having])
    with pytest.raises(LabError, match=r"validation\.queues: the lab has nothing that this applies to"):
        refuse_idle_wishes(plain, [without, without])


def test_a_stage_that_the_lab_has_not_is_refused_and_the_file_of_a_pipeline_says_so(tmp_path: Path) -> None:
    junit, document = tmp_path / "found.xml", tmp_path / "found.json"
    junit.write_text("<testsuites/>")
    document.write_text("{}")
    result = call("validate", write(tmp_path / "lab", ""), "--only", "marks", "--junit", junit, "--json", document)
    assert result.exit_code == 2
    assert result.stderr == "--only marks: the lab has nothing for this stage to look at; it has reach\n"
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    told = json.loads(document.read_text())
    assert (told["passed"], told["findings"]) == (None, []) and told["no_verdict"].startswith("only marks: ")


def test_a_suite_without_cases_is_no_success() -> None:
    (suite,) = ElementTree.fromstring(junit_xml("nothing", []))
    assert (suite.get("tests"), suite.get("skipped")) == ("1", "1")


def test_a_condition_that_could_be_judged_nowhere_fails(tmp_path: Path) -> None:
    four = incast_sweep(tmp_path / "four", senders=(1, 4))
    eight = incast_sweep(tmp_path / "eight", senders=(8, 16))
    for condition, told in (
        ("different-bits", "no point of one side has the settings of one of the other"),
        ("worse:goodput_bps:5%", "no point of one side has the settings of one of the other"),
    ):
        result = call("compare", four, eight, "--fail-on", condition)
        assert result.exit_code == 1, result.output
        assert f"{condition}: cannot be judged: {told}" in result.output
        assert f"{condition}: could not be judged at any point, so it has not passed" in result.output
    junit = call("compare", four, eight, "--fail-on", "different-bits", "--format", "junit").stdout
    assert ElementTree.fromstring(junit.partition("\n")[2])[0].get("failures") == "1"
    assert call("compare", four, four, "--fail-on", "different-bits").exit_code == 0


@pytest.mark.parametrize("lab", sorted(path.parent.name for path in LABS.glob("*/experiment.yml")))
@pytest.mark.no_cover
def test_each_condition_of_our_labs_concerns_a_point(lab: str) -> None:
    """Points are planned in the order in which they are written, until each condition has one."""
    written = shipped_lab(lab)
    wheres = [*(check.where for check in written.study.checks), *(one.get("where") for one in written.study.figures)]
    left: list[Any] = [where for where in wheres if where]
    plans = plans_of_points(shipped_resolver(lab), settings_of_points(written))
    while left and (plan := next(plans, None)) is not None:
        left = [where for where in left if not concerns(where, plan.parameters)]
    assert left == []


@pytest.mark.parametrize("study", read_studies(LABS.parent / DIRECTORY), ids=lambda study: study.study)
def test_what_a_study_compares_is_at_points_of_its_labs(study: Study) -> None:
    """What no point of a lab has would stay empty in every report."""
    numbers = []
    for claim in study.claims.values():
        bounds = [bound for one in claim.shows for bound in (one.above, one.below)]
        several = [*(one.number for one in claim.shows), *(one.number for one in bounds if isinstance(one, Multiple))]
        numbers += [of_lab(one, claim.lab) for one in (*several, *claim.beside)]
        if claim.band is not None:
            assert set(claim.band.where) <= set(shipped_lab(claim.lab).parameters)
    found = [(one, len(points_of(one.lab).of(one))) for one in numbers]
    assert [(one, count) for one, count in found if not count or (one.of == "only" and count > 1)] == []
    for table in study.tables:
        for lab in table.labs:
            assert {table.rows, *table.where} <= {*shipped_lab(lab).parameters, "variant"}
