"""A bundle: a run or a sweep as one file, with all that is needed to look at it and to run it again.

`bundle.json` says what is in it; `content/` is the directory of the run or sweep as it was, the report left out, which
can be written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import TypeAdapter, ValidationError

from fabriclab.constraints import Within
from fabriclab.engine.host import fabriclab_version, git_revision
from fabriclab.files import read_text
from fabriclab.formats import names
from fabriclab.formats.json_text import JsonError, parse_json
from fabriclab.formats.names import Setting, SettingName
from fabriclab.formats.plan.reading import first_mistake
from fabriclab.formats.run_directory import MANIFEST, SCRATCH, SWEEP
from fabriclab.results import Results, is_sweep, read_run, read_sweep
from fabriclab.run_bundles.archive import ArchiveError, pack, read_member, unpack

FORMAT = "fabriclab-bundle-1"
ABOUT, README, CONTENT = "bundle.json", "README.txt", "content"
_NOT_PACKED = ("report.html",)
_MOST_ABOUT_BYTES = 1 << 20


@dataclass(frozen=True)
class About:
    """What a bundle says of itself."""

    kind: Literal["run", "sweep"]
    lab: Annotated[str, names.LINE]
    title: Annotated[str, names.PROSE]
    runs: Annotated[int, Within(0, 10**6)]
    made_by: Annotated[str, names.LINE]
    """Version and commit of the fabriclab that packed it."""
    versions: Mapping[SettingName, Setting]
    """Of the first run: fabriclab, commit, kernel."""
    artefacts: Mapping[SettingName, Annotated[str, names.LINE]]
    """The hashes of what the first run's machine was started from."""
    engine: Annotated[str, names.LINE]

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    @property
    def made_with(self) -> dict[str, str]:
        """Versions and hashes of what the first run was made with, by their names."""
        versions = {name: str(value) for name, value in self.versions.items()}
        return {**versions, **{f"{name} (hash)": value for name, value in self.artefacts.items()}}


def write_bundle(directory: Path, out: Path) -> About:
    """Pack a run or sweep directory. Raises ResultsError for what is neither, OSError."""
    about = _about(directory)
    files: dict[str, Path | bytes] = {
        f"{CONTENT}/{file.relative_to(directory).as_posix()}": file
        for file in _to_pack(directory)
        if file.resolve() != out.resolve()
    }
    files[ABOUT] = (json.dumps({"format": FORMAT, **about.__dict__}, indent=2, ensure_ascii=False) + "\n").encode()
    files[README] = _readme(about).encode()
    pack(files, out)
    return about


def _to_pack(directory: Path) -> Iterator[Path]:
    """Yield what belongs to a run or sweep: not what a machine left that was killed with its host."""
    scratch = {manifest.with_name(SCRATCH) for manifest in directory.rglob(MANIFEST)}
    for file in sorted(directory.rglob("*")):
        if (
            file.is_file()
            and not file.is_symlink()
            and file.name not in _NOT_PACKED
            and scratch.isdisjoint(file.parents)
        ):
            yield file


def read_about(path: Path) -> About:
    """Return what a bundle says of itself, packed or unpacked. Raises ArchiveError for what is none, OSError."""
    try:
        packed = (
            read_text(path / ABOUT, _MOST_ABOUT_BYTES) if path.is_dir() else read_member(path, ABOUT, _MOST_ABOUT_BYTES)
        )
        data = parse_json(packed)
    except FileNotFoundError as error:
        raise ArchiveError(f"{path} has no {ABOUT}, so it is not the directory of an unpacked bundle") from error
    except (JsonError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path}: {ABOUT}: {error}") from error
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise ArchiveError(
            f"{path}: {ABOUT}: the format is not {FORMAT}; another version of fabriclab may have made it"
        )
    try:
        return TypeAdapter(About).validate_python(data)
    except ValidationError as error:
        raise ArchiveError(f"{path}: {ABOUT}: {first_mistake(error)}") from error


def unpack_bundle(path: Path, directory: Path) -> Path:
    """Unpack a bundle into a new directory and return where the run or sweep is in it.

    Raises ArchiveError, OSError; nothing is left then.
    """
    read_about(path)
    unpack(path, directory)
    return directory / CONTENT


def runs_of(content: Path) -> list[Results]:
    """Return the runs of an unpacked bundle. Raises ResultsError."""
    if (content / SWEEP).is_file():
        return list(read_sweep(content).runs)
    return [read_run(content)]


def _about(directory: Path) -> About:
    sweep = read_sweep(directory) if is_sweep(directory) else None
    runs = list(sweep.runs) if sweep is not None else [read_run(directory)]
    first = runs[0].manifest if runs else None
    versions = {} if first is None else {name: text for name, text in first.versions.items() if isinstance(text, str)}
    return About(
        kind="run" if sweep is None else "sweep",
        lab=runs[0].plan.lab if runs else (sweep.lab if sweep is not None else ""),
        title=runs[0].title if runs else "",
        runs=len(runs),
        made_by=" ".join(filter(None, (fabriclab_version(), git_revision()))),
        versions=versions,
        artefacts={} if first is None else {name: str(value) for name, value in first.artefacts.items()},
        engine="" if first is None else first.engine,
    )


def _readme(about: About) -> str:
    parts = "\n".join(f"  {name}: {value}" for name, value in about.made_with.items())
    return f"""{about.title} ({about.kind} of the lab {about.lab}, {about.runs} run(s))
packed by fabriclab {about.made_by}

  fabriclab open THIS_FILE               unpacks it and says what it holds
  fabriclab open THIS_FILE --reproduce   runs it again here, and says whether the bits agree

content/ is the directory as it was. {MANIFEST} says how a run was made and how it ended, plan.json what was run with
every default explicit, lab/ has the lab's own files, *.parquet are the tables, summary.json the metrics. The tables
open in Polars, pandas, DuckDB and R without fabriclab.

Made with:
{parts}
"""
