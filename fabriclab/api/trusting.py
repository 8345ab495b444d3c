"""`fabriclab trust`: saying beforehand that what a lab or a bundle brings may run, and taking it back."""

from __future__ import annotations

import os
from pathlib import Path

from fabriclab.api.consent import code_subject, lab_subject
from fabriclab.api.lab import PathLike
from fabriclab.api.lab_names import find_lab_or_own_file
from fabriclab.api.other_programs import is_netlab
from fabriclab.consent import store
from fabriclab.consent.request import Subject
from fabriclab.errors import ArgumentError
from fabriclab.formats.run_directory import MANIFEST, SWEEP
from fabriclab.run_bundles.bundle import CONTENT, runs_of


def trust(path: PathLike) -> Subject:
    """Trust the code of a lab, or the algorithms in C of an unpacked bundle, a run or a sweep, from now on.

    Returns what is trusted: a folder (of a lab that is one file, the file), or the hash of that code. Raises
    ArgumentError if it is none of these, ResultsError, TrustStateError.
    """
    subject = _subject(Path(path))
    store.remember(subject)
    return subject


def forget(path: PathLike) -> bool:
    """Stop trusting something; return whether it was trusted. A lab need not exist any more.

    Raises the same errors as `trust`.
    """
    written = Path(path)
    if any(entry.subject.name == str(path) for entry in store.read_trusted()):  # as the list names it
        return any([store.forget(Subject("lab", str(path))), store.forget(Subject("code", str(path)))])
    return store.forget(_subject(written) if written.exists() else Subject("lab", os.path.realpath(written)))


def trusted() -> list[Subject]:
    """Return everything that is trusted, except fabriclab's own labs. Raises TrustStateError."""
    return [entry.subject for entry in store.read_trusted()]


def _subject(path: Path) -> Subject:
    recorded = path / CONTENT if (path / CONTENT).is_dir() else path
    if not any((recorded / mark).is_file() for mark in (MANIFEST, SWEEP)):
        return lab_subject(path if is_netlab(path) else find_lab_or_own_file(path))
    algorithms = {(one.file, one.text): one for run in runs_of(recorded) for one in run.plan.algorithms}
    if not algorithms:
        raise ArgumentError("{0}: has no algorithm in C, so there is nothing to trust", path)
    return code_subject(algorithms.values())
