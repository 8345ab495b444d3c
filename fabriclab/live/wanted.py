"""What is to be brought up: a lab at one point, planned, with all that its machine is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from fabriclab.api.engine import fit_engine
from fabriclab.api.lab import Lab, check_seed, load_lab, written_settings
from fabriclab.api.warnings import sentences_before_runs
from fabriclab.engine.host import fabriclab_version
from fabriclab.errors import ArgumentError
from fabriclab.files import read_text
from fabriclab.formats.break_conditions import Condition, parse_condition
from fabriclab.formats.plan import Plan, plan_json
from fabriclab.formats.plan.model import Probes
from fabriclab.formats.speed import Speed, parse_speed
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES
from fabriclab.lab.reading.problems import Place
from fabriclab.live.recording import Header
from fabriclab.live.started_traffic import traffic_named
from fabriclab.resolve import resolve_plan
from fabriclab.runs.engines import EngineName, MadeFrom, engine_name, plan_for
from fabriclab.stories import find_story, story_name

_NO_PROBES = Probes(
    queue_interval_ns=None, queue_ports=(), tcp_interval_ns=None, tcp_classes=(), interface_interval_ns=None
)


@dataclass(frozen=True)
class Wanted:
    """A lab to bring up."""

    plan: Plan
    lab_directory: Path
    artefacts: MadeFrom
    command: tuple[str, ...]
    report: Mapping[str, Any]
    idle: bool
    """Whether the lab's own traffic is left out."""
    speed: Speed
    loop: bool = False
    """Whether its traffic is started by hand, and again when it has ended."""
    breaks: tuple[Condition, ...] = ()
    """At which its time stops, from its beginning on."""
    story: str | None = None
    """The name or the file of a story: time stands still until that lets it go."""
    warnings: tuple[str, ...] = ()
    lab: Lab | None = None
    """The lab as written; None of a replay."""
    settings: Mapping[str, str | ScalarValue] = field(default_factory=dict)
    """What was set when it came up."""

    @property
    def engine(self) -> EngineName:
        """The engine that runs it."""
        return engine_name(self.artefacts)

    def texts(self) -> dict[str, str]:
        """Return the lab's two files as they are now, with comments where they lie on the disk. Raises OSError."""
        if self.lab is None:
            return {}
        found = self.lab.texts()
        for name in found:
            path = self.lab_directory / name
            if path.is_file():
                found[name] = read_text(path, LARGEST_YAML_BYTES)
        return found

    def header(self) -> Header:
        """Return what its recording begins with."""
        return Header(
            version=fabriclab_version(),
            lab=self.plan.lab,
            lab_directory=str(self.lab_directory.absolute()),
            seed=self.plan.seed,
            idle=self.idle,
            artefacts=self.artefacts.hashes(),
            plan_sha256=plan_hash(plan_json(self.plan)),
        )


def plan_hash(text: str) -> str:
    """Return the hash of a plan's JSON, as recordings have it."""
    return hashlib.sha256(text.encode()).hexdigest()


def wanted_lab(question: Mapping[str, Any]) -> Wanted:
    """Return the lab that a question to `fabriclab.live.serve` means (`launch.Request`).

    Raises LabError, ConsentError, ArgumentError, EngineError.
    """
    engine: EngineName = question["engine"]
    _check_engine(engine, question)
    seed = question["seed"]
    check_seed(seed)
    lab = _lab(question)
    named = None if question["story"] is None else story_name(lab.directory, question["story"])
    story = None if named is None else find_story(lab.written, named)
    settings: dict[str, str | ScalarValue] = {
        name: ScalarValue(text, Place(place), quoted=True) for name, (text, place) in question["settings"].items()
    }
    settings = {**written_settings(lab, None), **(story.settings if story else {}), **settings}
    plan = plan_for(resolve_plan(lab.written, settings, seed), engine)
    if engine == "containerlab":  # its own traffic and events are left out
        plan = plan.model_copy(update={"events": ()})
    if question["loop"]:
        _check_loop(plan, question)
    if not question["probes"]:
        plan = plan.model_copy(update={"probes": _NO_PROBES})
    ports = {node.name: [port.interface for port in node.ports] for node in plan.nodes}
    return Wanted(
        plan=plan,
        lab_directory=lab.directory,
        artefacts=fit_engine(engine, lab.written, [plan], bool(question["trust"])),
        command=tuple(question["command"]),
        report=lab.written.report,
        idle=question["idle"] or question["loop"] or engine == "containerlab" or (story is not None and story.is_idle),
        loop=question["loop"],
        speed=parse_speed(question["speed"] or (story.speed if story else None) or "1"),
        breaks=tuple(parse_condition(text, ports) for text in question["breaks"]),
        story=named,
        warnings=tuple(sentences_before_runs(lab.written.topology, [plan.warnings])),
        lab=lab,
        settings=settings,
    )


def _check_loop(plan: Plan, question: Mapping[str, Any]) -> None:
    """Raise ArgumentError where there is no traffic that can start again."""
    if question["idle"]:
        raise ArgumentError("{loop} and {idle} contradict each other: one starts the lab's traffic, the other does not")
    if question["engine"] == "containerlab":
        raise ArgumentError("{loop}: in containers no traffic is started; leave it out")
    for traffic in plan.traffic:
        traffic_named(plan, traffic.name)


def _check_engine(engine: EngineName, question: Mapping[str, Any]) -> None:
    """Raise ArgumentError for what containers can't do, and for an engine that is none."""
    if engine not in get_args(EngineName):
        raise ArgumentError("{engine} {0}: there is no such engine; {1}", engine, " or ".join(get_args(EngineName)))
    if engine == "containerlab" and question["speed"] not in (None, "1"):
        raise ArgumentError("{speed} {0}: containers run in real time", question["speed"])
    if engine == "containerlab" and question["story"] is not None:
        raise ArgumentError("{story} {0}: containers run in real time, and a story stops time", question["story"])
    if engine == "containerlab" and question["probes"]:
        raise ArgumentError("{probes}: a lab that stays up in containers is not sampled; `fabriclab run` samples it")


def _lab(question: Mapping[str, Any]) -> Lab:
    texts: Sequence[str] | None = question["texts"]
    if texts is None:
        return load_lab(question["lab"])
    topology, experiment = texts
    return Lab.from_yaml(topology, experiment, question["lab"])
