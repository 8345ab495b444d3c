"""The lab as a whole: both files read, every point of every matrix checked, settings applied."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab import experiment as experiment_file
from fabriclab.lab.axes import Axis
from fabriclab.lab.experiment import Experiment, is_seed
from fabriclab.lab.figures import Figure
from fabriclab.lab.later_experiments import read_experiment
from fabriclab.lab.network import topology as topology_file
from fabriclab.lab.network.read import parse_topology
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value, read_document
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Mistake, Place, Problems
from fabriclab.lab.settings import check_key, is_dotted, normalise, put, split_key
from fabriclab.lab.study import Scalar, Study, parse_study
from fabriclab.lab.study_keys import SEED, VARIANT


@dataclass(frozen=True)
class AppliedSettings:
    """An experiment with settings in place, and those settings in the form in which they are compared."""

    document: MappingValue
    experiment: Experiment
    settings: Mapping[str, Scalar]


@dataclass(frozen=True)
class Lab:
    """A lab as written: its topology, its experiment, and what a study asks of it."""

    directory: Path
    topology: Topology
    experiment: Experiment
    study: Study
    document: MappingValue
    """The text of experiment.yml, into which settings are put."""
    topology_document: MappingValue
    """The text of topology.clab.yml."""
    topology_file: str = topology_file.FILE_NAME
    """What the topology's file is called."""
    topology_text: str | None = None
    """What it comes to, where it is a Go template."""

    @property
    def name(self) -> str:
        """The lab's name, from the topology file."""
        return self.topology.name

    @property
    def parameters(self) -> Mapping[str, tuple[str, ...]]:
        """Return the keys of `experiment.yml` that each parameter sets, by its name."""
        return self.study.parameters

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the names of the lab's variants."""
        return tuple(self.study.variants)

    @property
    def matrices(self) -> tuple[str, ...]:
        """Names of the matrices; the first is the default one."""
        return tuple(self.study.matrices)

    @property
    def report(self) -> dict[str, list[Figure]]:
        """The experiment's `report` section as plain data, for the manifest."""
        return {"figures": list(self.study.figures)} if self.study.figures else {}

    @cached_property
    def names(self) -> Names:
        """What the experiment may name."""
        return names_of(self.topology, complete=True)

    def points(self, matrix: str | None = None, seeds: Sequence[int] = ()) -> list[dict[str, str]]:
        """Return the settings of every point of a matrix (by default the first), the last axis running fastest.

        `seeds` take the place of the matrix's own axis of seeds; where it has none they run slowest, so that what is
        done of a sweep is whole seeds. A lab without a matrix has one point, with nothing set. Raises LabError for an
        unknown matrix.
        """
        axes = self._axes(matrix)
        if seeds:
            values = tuple(ScalarValue(str(seed), Place("--seeds")) for seed in seeds)
            if not any(axis.name == SEED for axis in axes):
                axes = (Axis(SEED, ()), *axes)
            axes = tuple(Axis(SEED, values) if axis.name == SEED else axis for axis in axes)
        return [{name: value.text for name, value in point.items()} for point in _points(axes)]

    def _axes(self, matrix: str | None) -> tuple[Axis, ...]:
        if matrix is None and not self.study.matrices:
            return ()
        name = self.matrices[0] if matrix is None else matrix
        if name not in self.study.matrices:
            problems = Problems()
            place = Place(str(self.directory / experiment_file.FILE_NAME))
            problems.add(place, "matrix", f"{shown(name)} is not a matrix; {did_you_mean(name, self.matrices)}", name)
            problems.raise_if_any()
        return self.study.matrices[name]

    def apply(self, settings: Mapping[str, str | ScalarValue], seed: int | None = None) -> AppliedSettings:
        """Return the experiment with settings in place; `seed` wins over any other.

        A setting is a text, as on the command line, or one with the place that an error is to name.

        Raises LabError.
        """
        problems = Problems()
        values = {
            name: value if isinstance(value, ScalarValue) else _on_command_line(name, value)
            for name, value in settings.items()
        }
        document = _Applier(self.document, self.study, self.names, problems).apply(values)
        if seed is not None:
            document = put(document, SEED, ScalarValue(str(seed), Place(f"--seed {seed}")))
        problems.raise_if_any()
        experiment = read_experiment(document, self.topology, self.names, self.directory, problems)
        _name_seed(problems, document, experiment.seed).raise_if_any()
        return self.applied(document, experiment, {name: value.text for name, value in values.items()})

    def applied(self, document: MappingValue, experiment: Experiment, settings: Mapping[str, str]) -> AppliedSettings:
        """Return an experiment that was read with these settings in place."""
        return AppliedSettings(
            document, experiment, {name: self.normalise(name, text) for name, text in settings.items()}
        )

    def checked_points(self, matrices: Sequence[str]) -> Iterator[tuple[AppliedSettings, int]]:
        """Read the experiment at each variant and at each point of some matrices; yield those that are right, each with
        the number of points that are alike; a variant by itself is none of them.

        A problem stands at the line of the value that causes it. Raises LabError with all of them after the last point.
        """
        checker = _PointChecker(self)
        for variant in self.study.variants:
            applied = checker.read({VARIANT: ScalarValue(variant, Place(""))})
            if applied is not None:
                yield applied, 0
        for name in matrices:
            axes, alike = self._without_seeds(self.study.matrices[name])
            for point in _points(axes):
                applied = checker.read(point)
                if applied is not None:
                    yield applied, alike
        checker.problems.raise_if_any()

    def _without_seeds(self, axes: tuple[Axis, ...]) -> tuple[tuple[Axis, ...], int]:
        """Return the axes with one seed, and how many it stands for; with all of them where the seed draws
        groups or one is wrong."""
        seeds = next((axis.values for axis in axes if axis.name == SEED), ())
        keys = [
            *self.document.entries,
            *(axis.name for axis in axes),
            *itertools.chain(*self.study.parameters.values()),
        ]
        keys += itertools.chain(*(variant.values for variant in self.study.variants.values()))
        if (
            not seeds
            or any(split_key(key)[0] == "groups" for key in keys)
            or not all(is_seed(seed.text) for seed in seeds)
        ):
            return axes, 1
        return tuple(Axis(SEED, seeds[:1]) if axis.name == SEED else axis for axis in axes), len(seeds)

    def normalise(self, name: str, text: str) -> Scalar:
        """Return a setting's value in the form in which it is compared (see `settings.normalise`)."""
        keys = self.study.parameters.get(name) or ((name,) if is_dotted(name) else ())
        return normalise(keys[0], text, self.document) if keys else text.strip()


def parse_lab(path: Path, *, every_point: bool = True) -> Lab:
    """Return the lab in directory `path`.

    Raises LabError with everything that is wrong in both files, with `every_point` at every point of every matrix as
    well: that takes a millisecond or two a point, and who runs one point need not wait for the others.
    """
    problems = Problems()
    if not path.is_dir():
        problems.add(
            Place(str(path)), "", "no such directory; a lab is a directory with topology.clab.yml and experiment.yml"
        )
        problems.raise_if_any()
    written = read_document(path / topology_file.FILE_NAME, problems)
    topology = None if written is None else parse_topology(written, problems, path)
    is_good = not problems
    document = read_document(path / experiment_file.FILE_NAME, problems)
    if document is None or topology is None or written is None:
        problems.raise_if_any()
        raise AssertionError("a file that cannot be read leaves a problem")
    lab = _read_lab(_Documents(path, written, document), topology, is_good, problems)
    for _ in lab.checked_points(lab.matrices) if every_point else ():
        pass
    return lab


def parse_documents(directory: Path, topology: MappingValue, experiment: MappingValue) -> Lab:
    """Return the lab of two documents, whose files, if they name any, lie in `directory`.

    Raises LabError as `parse_lab` does.
    """
    problems = Problems()
    read = parse_topology(topology, problems, directory)
    return _read_lab(_Documents(directory, topology, experiment), read, not problems, problems)


class _Documents(NamedTuple):
    """What a lab is read from."""

    directory: Path
    topology: MappingValue
    experiment: MappingValue


def _read_lab(documents: _Documents, topology: Topology, is_good: bool, problems: Problems) -> Lab:
    """Return the lab; `is_good`: nothing is wrong with its topology.

    Raises LabError with what is wrong, and was recorded before.
    """
    directory, written, document = documents
    names = names_of(topology, is_good)
    experiment = read_experiment(document, topology if is_good else None, names, directory, problems)
    study = parse_study(document, names, problems)
    problems.raise_if_any()
    return Lab(directory, topology, experiment, study, document, written)


def _on_command_line(name: str, text: str) -> ScalarValue:
    return ScalarValue(text, Place(f"--set {name}={text}"), quoted=True)


def names_of(topology: Topology, complete: bool) -> Names:
    """Return what an experiment may name.

    Where the topology has problems, roles are uncertain: then any node may be either.
    """
    every = tuple(node.name for node in topology.nodes)
    hosts, switches = (topology.hosts, topology.switches) if complete else (every, every)
    racks: dict[str, str] = {}
    for link in topology.links:
        for end, peer in ((link.a, link.b), (link.b, link.a)):
            racks.setdefault(end.node, peer.node)
    return Names(
        hosts,
        switches,
        tuple(topology.ports),
        topology.switch_ports(),
        complete,
        {host: racks[host] for host in hosts if host in racks},
        profiles={node.name: node.own.profile for node in topology.nodes if node.own is not None and node.own.profile},
    )


class _PointChecker:
    """Reads the experiment at points of matrices, and collects what is wrong with them."""

    def __init__(self, lab: Lab) -> None:
        self.problems = Problems()
        self._lab = lab
        self._known: set[Mistake] = set()

    def read(self, point: Mapping[str, ScalarValue]) -> AppliedSettings | None:
        """Return the experiment at a point; None after recording what is wrong and was not at a point before."""
        lab, found = self._lab, Problems()
        document = _Applier(lab.document, lab.study, lab.names, found).apply(point)
        experiment = read_experiment(document, lab.topology, lab.names, lab.directory, found)
        if not found:
            return lab.applied(document, experiment, {name: value.text for name, value in point.items()})
        news = found.without(self._known)
        self._known.update(news.found())
        self.problems.add_all(_name_seed(news, document, experiment.seed))
        return None


def _name_seed(problems: Problems, document: MappingValue, seed: int) -> Problems:
    """Return the problems of a point, each with the point's seed where that decides who is in a group:
    it may be one of this seed alone."""
    return problems.with_note(f"at seed {seed}") if "groups" in document.entries else problems


def _points(axes: tuple[Axis, ...]) -> Iterator[dict[str, ScalarValue]]:
    names = [axis.name for axis in axes]
    for values in itertools.product(*(axis.values for axis in axes)):
        yield dict(zip(names, values, strict=True))


class _Applier:
    """Puts settings into a document: the variant first, so that a parameter or key given beside
    it has the last word."""

    def __init__(self, document: MappingValue, study: Study, names: Names, problems: Problems) -> None:
        self._document = document
        self._study = study
        self._names = names
        self._problems = problems

    def apply(self, settings: Mapping[str, ScalarValue]) -> MappingValue:
        for name, value in settings.items():
            if name == VARIANT:
                self._apply_variant(value)
        for name, value in settings.items():
            if name in self._study.parameters:
                for dotted in self._study.parameters[name]:
                    self._put(dotted, value)
            elif name != VARIANT:
                self._apply_key(name, value)
        return self._document

    def _apply_variant(self, value: ScalarValue) -> None:
        variant = self._study.variants.get(value.text.strip())
        if variant is None:
            message = f"{shown(value.text)} is not a variant; {did_you_mean(value.text, self._study.variants)}"
            self._problems.add(value.place, VARIANT, message, value.text)
            return
        for dotted, entry in variant.values.items():
            self._put(dotted, entry)

    def _apply_key(self, name: str, value: ScalarValue) -> None:
        if not is_dotted(name):
            message = (
                f"unknown setting; {did_you_mean(name, (*self._study.setting_names(), SEED))} (or a key, "
                "such as hosts.default.rto_min)"
            )
            self._problems.add(value.place, "", message, value.text)
            return
        try:
            check_key(name, self._document, self._names)
        except ValueError as error:
            self._problems.add(value.place, "", str(error), value.text)
            return
        self._put(name, value)

    def _put(self, dotted: str, value: Value) -> None:
        self._document = put(self._document, dotted, value)
