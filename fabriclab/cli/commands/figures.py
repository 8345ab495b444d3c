"""`fabriclab figures`: what labs publish, measured again, or compared with its data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fabriclab.api.lab_names import find_lab, known_labs
from fabriclab.api.matrix_plans import first_plans, resolver_of
from fabriclab.api.progress import Begun, Ended, ProgressEvent
from fabriclab.api.sweep import sweep as sweep_lab
from fabriclab.cli.commands.published_pictures import of_reports, of_tables
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, OK, BadInputError
from fabriclab.cli.host.followed import FollowedRuns
from fabriclab.cli.host.waiting import waiting
from fabriclab.files import write_all, write_text
from fabriclab.formats.published_files import DIRECTORY, FILE
from fabriclab.gallery import moved
from fabriclab.gallery.data import Row, Source, data_file, read_rows, read_sources, write_data
from fabriclab.gallery.measure import measured
from fabriclab.gallery.plans import plans_digest
from fabriclab.gallery.published import (
    USUAL_SERIES,
    Published,
    is_published,
    read_published,
    without_superseded,
)
from fabriclab.gallery.readme import README, differences, generated, require_places
from fabriclab.runs.point import Keep


def check(labs: Sequence[Path]) -> int:
    """Print where READMEs differ from their data, and data from their labs; returns the exit status."""
    found = [line for lab in _labs(labs) for line in (*differences(lab), *_other_pictures(lab), *outdated(lab))]
    for line in found:
        print(line)
    if not found:
        print(f"{', '.join(lab.name for lab in _labs(labs))}: the READMEs agree with their data")
    return FAILED if found else OK


def draw(labs: Sequence[Path]) -> int:
    """Write tables, numbers and pictures of tables from the data that are there; returns the exit status."""
    for lab in _labs(labs):
        published, data = _of_data(lab)
        text = generated(lab, published, data, read_sources(lab))
        write_all({lab / README: text, **of_tables(lab, published, data)})
    return OK


def _of_data(lab: Path) -> tuple[Published, dict[str, list[Row]]]:
    published = read_published(lab)
    return published, {matrix: read_rows(lab, matrix) for matrix in published.matrices}


def _other_pictures(lab: Path) -> list[str]:
    drawn = of_tables(lab, *_of_data(lab))
    remedy = f"`fabriclab figures {lab.name} --draw` draws it"
    return [
        f"{path}: is not the picture that the data make; {remedy}"
        for path, text in drawn.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def outdated(lab: Path) -> list[str]:
    """Return the matrices whose data are not of the lab as it is, unless `published.yml` says that, a sentence each."""
    published, sources = read_published(lab), read_sources(lab)
    if published.superseded:
        return []
    resolver = resolver_of(lab)
    return [
        f"{lab / DIRECTORY}: matrix {name} was measured before the lab became what it is; measure it again, or write "
        f"in {FILE} what was different then: `superseded: ...`"
        for name, matrix in published.matrices.items()
        if name not in sources
        or sources[name].plans != plans_digest(first_plans(resolver, name, range(1, (matrix.seeds or 0) + 1)))
    ]


def figures(
    labs: Sequence[Path],
    jobs: int | None,
    out: Path,
    on: str = "local",
    keep: Keep = "all",
    *,
    matrices: Sequence[str] = (),
    trust: bool = False,
) -> int:
    """Run what is published of each lab, here or on a cluster, write data, README and pictures, and say what moved.

    `matrices`: these only, of the one lab that is named. Returns the exit status.
    """
    if matrices and len(labs) != 1:
        raise BadInputError("--matrix is for one lab; name it before the option")
    chosen = _of_this_kernel([(lab, read_published(lab)) for lab in _labs(labs)], named=bool(labs))
    if not chosen:
        return OK
    for lab, published in chosen:
        require_places(lab, published)
    sections = []
    for lab, published in chosen:
        directories = {
            matrix: with_consent(partial(_run, lab, published, matrix, jobs, out, on, keep), trust)
            for matrix in _chosen(lab, published, matrices)
        }
        with waiting(f"reading the results of {lab.name}"):
            sections.append(publish(lab, published, directories))
        text = "\n".join(["# What moved\n", *sections])
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / "moved.md", text)
    console = Console()
    console.print("\n".join(sections), highlight=False, soft_wrap=True, markup=False)
    console.print(f"list of changes: {out / 'moved.md'}", highlight=False, soft_wrap=True)
    return OK


def publish(lab: Path, published: Published, directories: dict[str, Path]) -> str:
    """Write the lab's data, README and pictures from the sweeps of its published matrices; return what moved, in words.

    What `published.yml` says of superseded data is removed when all of them are replaced.
    """
    if set(directories) == set(published.matrices):
        published = published.model_copy(update={"superseded": ""})
    new: dict[str, tuple[list[Row], Source]] = {
        matrix: measured(directory, published, matrix) for matrix, directory in directories.items()
    }
    found = []
    for matrix, (rows, _) in new.items():
        old = read_rows(lab, matrix) if data_file(lab, matrix).is_file() else []
        found += moved.moves(matrix, old, rows)
    sources = read_sources(lab) | {matrix: source for matrix, (_, source) in new.items()}
    rows_of = {matrix: new[matrix][0] if matrix in new else read_rows(lab, matrix) for matrix in published.matrices}
    text = generated(lab, published, rows_of, sources)
    pictures = {**of_reports(lab, published, directories), **of_tables(lab, published, rows_of)}
    write_data(lab, new)
    file = (lab / FILE).read_text(encoding="utf-8")
    write_all({lab / README: text, lab / FILE: file if published.superseded else without_superseded(file), **pictures})
    return moved.in_words(lab.name, found)


def _chosen(lab: Path, published: Published, matrices: Sequence[str]) -> list[str]:
    """Return the matrices that were named, or all.

    Raises BadInputError for one that is not published, GalleryError when another one has no data yet.
    """
    for name in matrices:
        if name not in published.matrices:
            there = ", ".join(published.matrices)
            raise BadInputError(f"--matrix {name}: {lab / FILE} does not publish it; it has {there}")
    for name in published.matrices:
        if matrices and name not in matrices:
            read_rows(lab, name)
    return [name for name in published.matrices if name in matrices or not matrices]


def _run(
    lab: Path, published: Published, matrix: str, jobs: int | None, out: Path, on: str, keep: Keep, trust: bool
) -> Path:
    """Run what is not done of a matrix; return the sweep's directory."""
    directory = out / lab.name / matrix
    with FollowedRuns(f"reading {lab}", "vm") as followed:

        def show(event: ProgressEvent) -> None:
            followed.show(event)
            if isinstance(event, Begun):
                followed.progress.count(event.points - event.done)
                text = f"{lab.name}, {matrix}: {event.done} of {event.points} points are done already"
                followed.console.print(text, highlight=False)
            elif isinstance(event, Ended) and event.result.status != "complete":
                followed.console.print(f"{event.run}: {event.result.status}", highlight=False)

        sweep_lab(
            *(lab, matrix),
            seeds=published.matrices[matrix].seeds,
            jobs=jobs,
            out=directory,
            on=on,
            keep=keep,
            trust=trust,
            progress=show,
            cancel=followed.interrupt,
        )
    if followed.interrupt.requested:
        raise KeyboardInterrupt
    return directory


def _of_this_kernel(labs: list[tuple[Path, Published]], *, named: bool) -> list[tuple[Path, Published]]:
    """Return the labs that are measured with the machine's kernel, saying which are left out and how to measure them.

    Raises BadInputError where such a lab was named.
    """
    series = os.environ.get("KERNEL_SERIES") or USUAL_SERIES
    others = [(lab, published.kernel_series) for lab, published in labs if published.kernel_series != series]
    for lab, wanted in others:
        how = "unset KERNEL_SERIES" if wanted == USUAL_SERIES else f"export KERNEL_SERIES={wanted}"
        text = f"{lab.name} is measured with Linux {wanted}: {how}"
        if named:
            raise BadInputError(text)
        Console(stderr=True).print(f"left out: {text}", highlight=False, soft_wrap=True)
    return [(lab, published) for lab, published in labs if published.kernel_series == series]


def _labs(written: Sequence[Path]) -> list[Path]:
    """Return the labs that were named, or all that publish something. Raises ArgumentError, BadInputError."""
    if not written:
        return [lab for lab in known_labs() if is_published(lab)]
    found = [find_lab(lab) for lab in written]
    for lab in found:
        if not is_published(lab):
            raise BadInputError(f"{lab}: publishes nothing; {FILE} lists what a lab publishes (labs/README.md)")
    return found
