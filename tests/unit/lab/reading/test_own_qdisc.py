"""A user's own qdisc: how a lab names it, and what the machine is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_labs import EXPERIMENT, TOPOLOGY
from sample_algorithms import QDISC

import fabriclab
from fabriclab.compile import compile_node, compile_sampler, compiled_flows
from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.modules import compile_modules
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.lab import LabError, parse_lab
from fabriclab.qdiscs import Own
from fabriclab.resolve import resolve_plan

AQM = "{source: ./mine.c, options: limit 100 target 5ms}"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    directory = tmp_path / "lab"
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    text = EXPERIMENT.replace("./mine.c", "cubic").replace("./other.c", "bbr")
    text = text.replace("64 KB}", f"64 KB, aqm: {AQM}}}")
    (directory / "experiment.yml").write_text(text + "probes: {queues: {ports: [s1:eth1]}}\n")
    (directory / "mine.c").write_text(QDISC)
    return directory


def planned(lab: Path, settings: dict[str, str] | None = None) -> Plan:
    return resolve_plan(parse_lab(lab), settings or {})


def mistake(lab: Path, old: str, new: str) -> str:
    text = (lab / "experiment.yml").read_text()
    (lab / "experiment.yml").write_text(text.replace(old, new))
    with pytest.raises(LabError) as caught:
        parse_lab(lab)
    (lab / "experiment.yml").write_text(text)
    return caught.value.mistakes[0].message


def test_the_machine_is_told_the_buffer_and_the_options(lab: Path) -> None:
    plan = planned(lab)
    (algorithm,) = plan.algorithms
    assert (algorithm.kind, algorithm.name, algorithm.module) == ("qdisc", "mine", "own_sch_mine")
    (line,) = [line for line in compile_node(plan.node("s1"), plan).tc.splitlines() if "eth1 parent" in line]
    assert line.endswith("handle 3: own mine buffer 64000 limit 100 target 5ms")
    assert parse_plan_json(plan_json(plan)) == plan
    sampled = compile_sampler(plan, compiled_flows(plan, lab))["queues"]["marks"]
    assert sampled["mine"] == [{"at": 0, "bytes": 4, "within": ()}]


def test_layers_and_settings_may_change_it(lab: Path) -> None:
    def queue(settings: dict[str, str]) -> object:
        (port, _) = planned(lab, settings).node("s1").ports
        assert port.queue is not None
        return port.queue.aqm

    assert queue({"switches.default.aqm.options": "limit 7"}) == Own(id="mine", options="limit 7")
    assert queue({"switches.s1.aqm.options": "limit 7"}) == Own(id="mine", options="limit 7")
    assert queue({"switches.s1.aqm": "none"}) is None
    assert getattr(queue({"switches.s1.aqm.kind": "codel"}), "kind", "") == "codel"
    settings = {"switches.default.aqm": "none", "hosts.h1.aqm.source": "./mine.c"}
    assert [one.name for one in planned(lab, settings).algorithms] == ["mine"]


def test_what_contradicts_is_told(lab: Path) -> None:
    assert mistake(lab, "{source: ", "{kind: codel, source: ") == "unknown key; valid here: source, options"
    assert "conflicts with ecn_threshold" in mistake(lab, "aqm: {", "ecn_threshold: 9 KB, aqm: {")
    assert "write source: its C file" in mistake(lab, "source: ./mine.c, ", "")
    assert "is not a list of options; write words" in mistake(lab, "limit 100", "limit=$(100)")
    assert "is not a C file" in mistake(lab, "./mine.c", "codel")
    (lab / "mine.c").write_text(QDISC.replace('"mine"', '"red"'))
    assert "registers 'red', which the kernel already has" in mistake(lab, "title", "title")


def test_it_can_not_become_another_one_while_the_lab_runs(lab: Path) -> None:
    (lab / "other.c").write_text(QDISC.replace('"mine"', '"other"'))
    text = (lab / "experiment.yml").read_text()
    later = "events: {later: {at: 1 ms, set: {KEY}}}\n"
    (lab / "experiment.yml").write_text(text + later.replace("KEY", "switches.default.aqm.options: limit 9"))
    assert [event.name for event in planned(lab).events] == ["later"]
    (lab / "experiment.yml").write_text(text + later.replace("KEY", "switches.default.aqm.source: ./other.c"))
    with pytest.raises(LabError, match="its queue would be a different qdisc"):
        planned(lab)


def test_it_compiles(lab: Path, artefacts: Artefacts) -> None:
    assert list(compile_modules(artefacts, planned(lab).algorithms, lab)) == ["own_sch_mine"]


@pytest.mark.parametrize("template", ["congestion-control", "qdisc", "roce-congestion-control"])
def test_a_template_is_a_lab_whose_algorithm_compiles(template: str, tmp_path: Path, artefacts: Artefacts) -> None:
    made = fabriclab.new(tmp_path / "My-own", template=template)
    assert {file.name for file in made.files} >= {"my_own.c", "README.md", "experiment.yml", "topology.clab.yml"}
    assert not any("mine" in file.read_text() or "DIRECTORY" in file.read_text() for file in made.files)
    checked = fabriclab.check(made.directory)
    assert checked.name == "My-own" and checked.warnings == ()


def test_names_that_an_algorithm_can_not_have(tmp_path: Path) -> None:
    others = {"cubic": "my_cubic", "9lives": "my_9lives", "a" * 30: "a" * 15, "double": "my_double"}
    for lab, algorithm in others.items():
        made = fabriclab.new(tmp_path / lab, template="congestion-control")
        assert (made.directory / f"{algorithm}.c").is_file()
    with pytest.raises(fabriclab.ArgumentError, match=r"template 'qdsc': did you mean 'qdisc'\?"):
        fabriclab.new(tmp_path / "x", template="qdsc")
    with pytest.raises(fabriclab.ArgumentError, match="name one thing to begin with: a lab to copy, or a template"):
        fabriclab.new(tmp_path / "x", "incast", template="qdisc")
