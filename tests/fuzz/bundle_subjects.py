"""Bundles that are fuzzed: opened, looked at, compared, exported, and made ready to be run again.

A subject is told of each file that is written while it is tried: one outside of the case's own directory is a finding,
whatever else becomes of the case.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from bundle_mutations import Entries, mutant, other_field, packed
from strangers import give_runs_nics
from subjects import Files, LabSubject, Subject, subjects, texts_read_once
from switch_runs import switch_run
from synthetic_hadoop_run import hadoop_run
from synthetic_run import incast_sweep, long_run
from watched_writes import writing_only

import fabriclab
from fabriclab.api.bundles import open_bundle
from fabriclab.cli.commands.report import report
from fabriclab.cli.host.visible import VisibleStream, visible
from fabriclab.errors import FabriclabError
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.runnable import check_runnable
from fabriclab.lab import parse_lab
from fabriclab.resolve import Resolver
from fabriclab.run_bundles.bundle import runs_of, write_bundle
from fabriclab.runs.directory import write_inputs
from fabriclab.runs.engines import plan_for

_REPORT_EVERY = 8
"""A report takes a second."""
MOST_FLOWS = 20_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that command a terminal; lines and tabs do not."""


class BundleSubject(Subject):
    """A bundle of a run or a sweep."""

    clean = (FabriclabError,)

    def __init__(self, name: str, entries: Entries) -> None:
        super().__init__(name)
        self.entries = entries

    def mutant(self, rng: random.Random) -> Files:
        return {"it.zip": mutant(self.entries, rng), "sound.zip": packed(self.entries)}

    def attempt(self, directory: Path, rng: random.Random) -> None:
        with writing_only(directory), _captured():
            try:
                look_at(directory, rng.randrange(_REPORT_EVERY) == 0)
            except OSError as error:
                # Those of the system are told with the file's name, as a full disk is (`cli.host.failure`).
                if error.filename is None:
                    raise
                raise FabriclabError(visible(str(error))) from error
            except FabriclabError as error:
                raise FabriclabError(visible(str(error))) from error


@contextlib.contextmanager
def _captured() -> Iterator[None]:
    """Write to a stream of the command's own, and raise AssertionError where it would command a terminal."""
    text = io.StringIO()
    with contextlib.redirect_stdout(VisibleStream(text)):
        yield
    if _CONTROL.search(text.getvalue()):
        raise AssertionError("control characters were written to the terminal")


def look_at(directory: Path, with_report: bool) -> None:
    """Do with a bundle what the commands do, but boot the machine."""
    opened = open_bundle(directory / "it.zip", directory / "opened")
    content = opened.content.directory
    print(opened.about.title, opened.about.made_with, content)
    if with_report:
        report([content], None, None)
    else:
        print(opened.content.results)
    fabriclab.export(content, directory / "tables")
    sound = open_bundle(directory / "sound.zip", directory / "sound")
    print(repr(fabriclab.compare(sound.content.directory, content)))
    for number, run in enumerate(runs_of(content)):
        check_runnable(run.plan)
        if sum(traffic.flows for traffic in run.plan.traffic) <= MOST_FLOWS:
            again = directory / "again" / str(number)
            again.mkdir(parents=True)
            write_inputs(run.plan, run.directory / "lab", again)


class PlanSubject(Subject):
    """The plan of a lab: read, and made ready to be run."""

    clean = (FabriclabError,)

    def __init__(self, name: str, plan: str, files: Mapping[str, bytes]) -> None:
        super().__init__(name)
        self._plan, self._files = plan, files

    def mutant(self, rng: random.Random) -> Files:
        data = other_field(json.loads(self._plan), rng)
        return {"plan.json": data, **{f"lab/{name}": text for name, text in self._files.items()}}

    def attempt(self, directory: Path, rng: random.Random) -> None:
        plan = parse_plan_json((directory / "plan.json").read_bytes())
        check_runnable(plan)
        if sum(traffic.flows for traffic in plan.traffic) > MOST_FLOWS:
            return
        again = directory / "again"
        again.mkdir()
        with writing_only(again):
            write_inputs(plan, directory / "lab", again)
            write_inputs(plan_for(plan, "containerlab"), directory / "lab", again, stock=True)


def plan_subjects() -> list[PlanSubject]:
    """Return the plans of our labs, and of those that are written to have everything."""
    found = []
    with tempfile.TemporaryDirectory(prefix="fabriclab-fuzz-plans-") as scratch, texts_read_once():
        for subject in subjects():
            if not isinstance(subject, LabSubject):
                continue
            directory = Path(scratch) / subject.name
            for name, text in subject.files.items():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (directory / name).write_text(text)
            plan = plan_json(Resolver(parse_lab(directory, every_point=False)).resolve({}))
            files = {name: text.encode() for name, text in subject.files.items()}
            found.append(PlanSubject(f"plan of {subject.name}", plan, files))
    return found


def bundle_subjects() -> list[BundleSubject]:
    """Return the bundles: of a sweep, of long flows, of a switch with a shared buffer, of a Hadoop cluster."""
    return [BundleSubject(f"bundle of {name}", entries) for name, entries in _bundles().items()]


@cache
def _bundles() -> dict[str, Entries]:
    import zipfile

    found: dict[str, Entries] = {}
    makers: dict[str, Callable[[Path], Path]] = {
        # Two points of each axis: a case unpacks, compares and plans all of them.
        "a sweep": partial(incast_sweep, senders=(2, 32)),
        "long flows": long_run,
        "a switch": switch_run,
        "a cluster": hadoop_run,
    }
    with tempfile.TemporaryDirectory(prefix="fabriclab-fuzz-bundles-") as scratch:
        for name, make in makers.items():
            directory = make(Path(scratch) / name.replace(" ", "-"))
            give_runs_nics(directory)
            write_bundle(directory, Path(scratch) / "it.zip")
            with zipfile.ZipFile(Path(scratch) / "it.zip") as archive:
                found[name] = {one: archive.read(one) for one in archive.namelist()}
    return found
