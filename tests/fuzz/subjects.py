"""What is fuzzed: the labs with the files that they bind or name, and the inputs of importers.

Each is read as the commands read it.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import get_args

from mutations import VALUES, mutated_json, mutated_lines
from sample_flow_files import SAMPLES
from written_labs import EVERY_TRAFFIC, LAYERED, PROFILE_LAB, SIZES, TRACE, TRACE_LAB
from yaml_mutations import mutated_yaml

from fabriclab.cli.text.plan import plan_text
from fabriclab.compile import (
    TraceError,
    compile_hosts,
    compile_job,
    compile_machine_sysctl,
    compile_node,
    compile_sampler,
    compiled_flows,
    machine_memory_bytes,
    trace_text,
)
from fabriclab.flow_importers.convert import convert_flows
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.runnable import check_runnable
from fabriclab.lab import Lab, LabError, parse_lab
from fabriclab.lab.reading import yaml_nodes
from fabriclab.registry.vendors import stand_in_of
from fabriclab.resolve import Resolver
from fabriclab.runs.engines import plan_for
from fabriclab.vendors.arista.profile import import_qos, parse_config_text, read_chip
from fabriclab.vendors.frr.lab import import_network
from fabriclab.vendors.sonic.judge import judge_config_db
from fabriclab.vendors.sonic.lab import import_fabric, import_lab
from fabriclab.vendors.sonic.lab.fabric_stubs import Missing
from fabriclab.vendors.sonic.read import parse_config_db

STAND_INS = (
    *(("arista_ceos", "eos.cfg"), ("nokia_srlinux", "srl.json"), ("cvx", "nvue.yaml"), ("frr", "frr.conf")),
    ("sonic-vm", "sonic.json"),
)
"""Kinds of node, and a file that each reads."""
ROOT = Path(__file__).parents[2]
LABS = sorted(path.parent for path in ROOT.glob("labs/*/experiment.yml"))
CLEAN = (LabError, TraceError)
"""What a user's mistake may raise; each is a list of sentences."""
Files = Mapping[str, bytes]
_MOST_FLOWS = 20_000
"""A mutant may ask for ten million flows, which are made in minutes: their making is tried on smaller ones."""


_composed = lru_cache(maxsize=256)(yaml_nodes.composed)


@contextmanager
def texts_read_once() -> Iterator[None]:
    """Keep the trees of YAML texts: most of a case's time would go into YAML that no mutation touched."""
    before, yaml_nodes.composed = yaml_nodes.composed, _composed
    try:
        yield
    finally:
        yaml_nodes.composed = before


class Subject(ABC):
    """Files that are changed, and what reads them."""

    clean: tuple[type[Exception], ...] = CLEAN
    """What an attempt may raise."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def mutant(self, rng: random.Random) -> Files:
        """Return the files, some of them changed."""

    @abstractmethod
    def attempt(self, directory: Path, rng: random.Random) -> None:
        """Read what lies in `directory`. Raises one of `clean`, and nothing else."""


def mutated(name: str, text: str, rng: random.Random) -> bytes:
    """Return a file changed as its format is."""
    if name.endswith(".yml"):
        return mutated_yaml(text, rng)
    return mutated_json(text, rng) if name.endswith(".json") else mutated_lines(text, rng)


class LabSubject(Subject):
    """A lab: parsed, resolved, compiled for both engines."""

    def __init__(self, name: str, files: Mapping[str, str]) -> None:
        super().__init__(name)
        self.files = files

    def mutant(self, rng: random.Random) -> Files:
        chosen = {rng.choice(list(self.files)) for _ in range(rng.choice((1, 1, 1, 2)))}
        return {
            name: mutated(name, text, rng) if name in chosen else text.encode() for name, text in self.files.items()
        }

    def attempt(self, directory: Path, rng: random.Random) -> None:
        lab = parse_lab(directory)
        resolver = Resolver(lab)
        compile_all(resolver.resolve({}), directory)
        resolver.resolve(_settings(lab, rng), rng.choice((None, 0, 2**31 - 1)))


def compile_all(plan: Plan, directory: Path) -> None:
    """Make all that a run of this plan would write; what a lab may say, a plan may."""
    assert parse_plan_json(plan_json(plan)) == plan
    check_runnable(plan)
    plan_text(plan)
    for node in plan.nodes:
        compile_node(node, plan).by_name()
    compile_machine_sysctl(plan)
    compile_hosts(plan)
    stock = plan_for(plan, "containerlab")
    flows = compiled_flows(plan, directory)
    text = "".join(trace_text(flows))
    compile_job(plan, flows)
    compile_sampler(plan, flows)
    machine_memory_bytes(plan, len(text))
    for node in stock.nodes:
        compile_node(node, stock, stock=True).by_name()
    compile_job(stock, flows, stock=True)


def _settings(lab: Lab, rng: random.Random) -> dict[str, str]:
    """Return settings as a careless command line might have them."""
    points = lab.points()
    settings = dict(rng.choice(points)) if points else {}
    names = [
        *lab.parameters,
        "seed",
        "variant",
        "links.rate",
        "hosts.default.rto_min",
        "traffic",
        "switches.default.buffer",
        "nonsense",
    ]
    for _ in range(rng.randrange(3)):
        settings[rng.choice(names)] = rng.choice(VALUES)
    return settings


class FileSubject(Subject):
    """One file of several, read by a function."""

    def __init__(self, name: str, texts: Mapping[str, str], read: Callable[[bytes, str], object]) -> None:
        super().__init__(name)
        self._texts = texts
        self._read = read

    def mutant(self, rng: random.Random) -> Files:
        name = rng.choice(list(self._texts))
        return {name: mutated(name, self._texts[name], rng)}

    def attempt(self, directory: Path, rng: random.Random) -> None:
        (path,) = directory.iterdir()
        self._read(path.read_bytes(), str(path))


class NetworkSubject(Subject):
    """All the files of a network of FRR routers, some of them changed."""

    def __init__(self, name: str, texts: Mapping[str, str]) -> None:
        super().__init__(name)
        self._texts = texts

    def mutant(self, rng: random.Random) -> Files:
        chosen = {rng.choice(list(self._texts)) for _ in range(rng.choice((1, 1, 2)))}
        return {
            name: mutated_lines(text, rng) if name in chosen else text.encode() for name, text in self._texts.items()
        }

    def attempt(self, directory: Path, rng: random.Random) -> None:
        import_network([directory], "network")


class FabricSubject(Subject):
    """All the files of a fabric, some of them changed."""

    def __init__(self, name: str, texts: Mapping[str, str]) -> None:
        super().__init__(name)
        self._texts = texts

    def mutant(self, rng: random.Random) -> Files:
        chosen = {rng.choice(list(self._texts)) for _ in range(rng.choice((1, 1, 2)))}
        return {
            name: mutated_json(text, rng) if name in chosen else text.encode() for name, text in self._texts.items()
        }

    def attempt(self, directory: Path, rng: random.Random) -> None:
        import_fabric(sorted(directory.iterdir()), "fabric", None, rng.choice(get_args(Missing)))


def subjects() -> list[Subject]:
    """Return everything that is fuzzed."""
    golden = ROOT / "tests" / "golden"
    configs = {path.name: path.read_text() for path in sorted((golden / "sonic").glob("*.json"))}
    traps = {path.name: path.read_text() for path in sorted((golden / "sonic-check").rglob("*.json"))}
    arista = {path.name: path.read_text() for path in sorted((golden / "arista").glob("*.cfg"))}
    routers = {
        case.name: {
            "-".join(path.relative_to(case / "given").parts): path.read_text() for path in _files(case / "given")
        }
        for case in sorted((golden / "frr").iterdir())
    }
    foreign = {path.name: path.read_text() for path in _files(golden / "stand-in" / "mixed" / "given")}
    fabric = {path.name: path.read_text() for path in sorted((ROOT / "labs" / "sonic-leaf-spine").glob("*.json"))}
    return [
        *(LabSubject(directory.name, lab_files(directory)) for directory in LABS),
        *_written_labs(),
        FileSubject("sonic import", configs, lambda data, file: import_lab(parse_config_db(data, file), None, None)),
        FileSubject("sonic check", {**configs, **traps}, lambda data, file: judge_config_db(data, file, 1)),
        FabricSubject("sonic import of a fabric", fabric),
        FileSubject(
            "arista import",
            arista,
            lambda data, file: import_qos(parse_config_text(data, file), read_chip("trident-3"), None),
        ),
        *(NetworkSubject(f"import frr: {case}", texts) for case, texts in routers.items()),
        *(
            FileSubject(f"{kind} where FRR stands in", {name: foreign[name]}, partial(_stand_in, kind))
            for kind, name in STAND_INS
        ),
        *(
            FileSubject(f"convert {source}", {sample.name: sample.text}, partial(_convert, source))
            for source, sample in SAMPLES.items()
        ),
    ]


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def _stand_in(kind: str, data: bytes, file: str) -> object:
    reader = stand_in_of(kind)
    assert reader is not None
    return reader(data, file, ("eth1", "eth2", "e1-1"))


def lab_files(directory: Path) -> dict[str, str]:
    """Return a lab's files, its matrices cut to two values an axis: each point is read,
    and their number is not what is tried."""
    names = [path for path in directory.iterdir() if path.suffix in (".yml", ".json", ".txt", ".csv", ".c")]
    files = {path.name: path.read_text() for path in sorted(names)}
    files["experiment.yml"] = _with_short_axes(files["experiment.yml"])
    return files


_ITEM = r"""\s*(?:'[^'\n]*'|"[^"\n]*"|[^,\]\n'"]+)"""
"""Of a list in one line. A text in quotes may have commas."""


def _with_short_axes(text: str) -> str:
    head, matrix, rest = text.partition("\nmatrix:\n")
    if not matrix:
        return text
    lines = rest.splitlines(keepends=True)
    section = list(takewhile(lambda line: line[0] in " #\n", lines))
    short = re.sub(rf"\[({_ITEM},{_ITEM}),[^\]\n]*\]", r"[\1]", "".join(section))
    short = re.sub(r"(seed: [0-9]+)\.\.[0-9]+", r"\1", short)
    return head + matrix + short + "".join(lines[len(section) :])


def _written_labs() -> Iterator[Subject]:
    """Yield labs of what none of ours has: a trace, a distribution, a profile of its own, VLANs,
    all kinds of traffic, all layers."""
    common = (ROOT / "tests" / "errors" / "common" / "topology.clab.yml").read_text()
    yield LabSubject(
        "a trace", {"topology.clab.yml": common, "experiment.yml": TRACE_LAB, "mine.csv": TRACE, "sizes.txt": SIZES}
    )
    profile = (ROOT / "fabriclab" / "switches" / "trident-3.yml").read_text()
    yield LabSubject("a profile", {"topology.clab.yml": common, "experiment.yml": PROFILE_LAB, "mine.yml": profile})
    yield LabSubject("layers", {"topology.clab.yml": LAYERED, "experiment.yml": EVERY_TRAFFIC})


def _convert(source: str, data: bytes, file: str) -> object:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise TraceError(f"{file}: {error.reason}; it must be text, UTF-8") from error
    return convert_flows(text, file, source, None)
