"""New labs: a copy of another lab, or a lab with a generated topology."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.api.as_frr import BroughtLab, lab_as_frr
from fabriclab.api.consent import trusted_or_why_not
from fabriclab.api.generated import Dumbbell, FatTree, GeneratedLab, Shape, Star, generate
from fabriclab.api.kept_lab import kept_files
from fabriclab.api.lab import PathLike, lab_of_file
from fabriclab.api.lab_copy import README, copied_files, named
from fabriclab.api.lab_names import STARTERS, directory_of, find_lab_or_own_file, known_labs
from fabriclab.errors import ArgumentError
from fabriclab.files import write_files
from fabriclab.formats.names import NODE_NAME
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab import experiment
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.lab.network import topology
from fabriclab.qdiscs import STOCK

_SHAPES: dict[str, type[Shape]] = dict(zip(STARTERS, (Star, Dumbbell, FatTree), strict=True))
TEMPLATES = ("congestion-control", "qdisc", "roce-congestion-control", "sharing")
"""What an algorithm of one's own may begin with: folders of `fabriclab/starters`."""
_STARTERS = Path(__file__).parents[1] / "starters"
_SMALL = "lab"
"""A folder of it: the lab that begins with nothing else."""
_MINE = re.compile(r"\bmine(?=\b|_)")
"""What the algorithm is called in the templates' files."""
_LONGEST_NAME = 15
_WORDS_OF_C = (
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
    *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed"),
    *("sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
    *("asm", "typeof", "bool", "true", "false", "current"),
)
"""What no variable of the kernel's C can be called; `current` is a macro of it."""


@dataclass(frozen=True)
class NewLab:
    """A new lab in a directory of its own."""

    directory: Path
    origin: str
    """The name of the lab or of the shape that it was begun with."""
    files: tuple[Path, ...]
    """The files that were written."""
    generated: GeneratedLab | None = None
    """What was generated; None where a lab was copied."""
    untrusted: str = ""
    """Why the lab is not trusted, though it was made here; empty where it is (docs/trust.md)."""


def new(
    directory: PathLike,
    origin: PathLike | None = None,
    *,
    template: str | None = None,
    with_results: bool = False,
) -> NewLab:
    """Make a lab in a new directory and return it. The directory's name becomes the lab's name.

    `origin` is the lab to copy, as a directory or a name, or one of the generated labs `star`, `dumbbell` and
    `fat-tree`. A copy has what the lab runs; `with_results` adds its text, pictures, published results, checks and
    study. `template` instead of `origin` begins an algorithm of your own, such as `congestion-control` or `qdisc`: a C
    file that compiles, and a lab that compares it with those that are there. Without both the lab is a small one, with
    comments, to change. Raises ArgumentError if the directory exists, if its name cannot be a lab's name, or if there
    is no such origin; OSError.
    """
    if origin is not None and template is not None:
        raise ArgumentError("name one thing to begin with: a lab to copy, or a template ({0})", ", ".join(TEMPLATES))
    place = Path(directory)
    name = _name_of(place)
    if template is not None:
        return _from_template(place, name, template)
    if origin is None:
        return _begun(place, name)
    word = str(origin)
    if word in STARTERS and word not in {lab.name for lab in known_labs()}:
        generated = generate(_SHAPES[word](name=name))
        return NewLab(place, word, generated.write(place), generated, trusted_or_why_not(place))
    lab = find_lab_or_own_file(Path(word))
    copied = copied_files(lab, place, with_results=with_results) if lab.is_dir() else _of_file(lab, name, Path(word))
    files = {place / file: content for file, content in copied.items()}
    write_files(files, force=False)
    return NewLab(place, lab.name, tuple(files), untrusted=trusted_or_why_not(place, lab))


def _of_file(file: Path, name: str, written: Path) -> dict[str, bytes]:
    """Return the files of the lab that a Containerlab file is by itself, those that its nodes bind among them."""
    kept = kept_files(lab_of_file(file, directory=directory_of(file, written)).written)
    return {path: named(text, name) if path == topology.FILE_NAME else text for path, text in kept.items()}


def new_as_frr(directory: PathLike, file: PathLike, *, variables: Sequence[PathLike] = ()) -> BroughtLab:
    """Make a lab of a Containerlab file in a new directory, with FRR on its switches, and return it.

    Raises LabError for mistakes in the file, ArgumentError where the directory is there, or the file is not; OSError.
    """
    place = Path(directory)
    brought = lab_as_frr(file, _name_of(place), variables=variables)
    texts = {topology.FILE_NAME: brought.topology, experiment.FILE_NAME: brought.experiment}
    write_files({place / name: text for name, text in texts.items()}, force=False)
    return brought


def _name_of(place: Path) -> str:
    """Return the name of a lab in a new directory. Raises ArgumentError."""
    if place.exists() or place.is_symlink():
        raise ArgumentError("{0} already exists; name a new directory", place)
    name = place.resolve().name
    if not NODE_NAME.is_in(name):
        raise ArgumentError("{0!r} is not a lab name; write letters, digits, '-' and '_', at most 63", name)
    return name


def _begun(place: Path, name: str) -> NewLab:
    """Write a small lab with comments."""
    files = {place / path.name: path.read_bytes() for path in sorted((_STARTERS / _SMALL).iterdir())}
    topology_file, readme = place / topology.FILE_NAME, place / README
    files[topology_file] = named(files[topology_file], name)
    files[readme] = files[readme].replace(b"NAME", name.encode()).replace(b"DIRECTORY", str(place).encode())
    write_files(files, force=False)
    return NewLab(place, _SMALL, tuple(files), untrusted=trusted_or_why_not(place))


def _from_template(place: Path, name: str, template: str) -> NewLab:
    """Write a template's files, its algorithm under the new lab's name."""
    if template not in TEMPLATES:
        raise ArgumentError("{template} {0!r}: {1}", template, did_you_mean(template, TEMPLATES))
    algorithm = algorithm_name(name)
    files = {}
    for path in sorted((_STARTERS / template).iterdir()):
        text = _MINE.sub(algorithm, path.read_text(encoding="utf-8")).replace("DIRECTORY", str(place))
        files[place / _MINE.sub(algorithm, path.name)] = text.encode()
    topology_file = place / topology.FILE_NAME
    files[topology_file] = named(files[topology_file], name)
    write_files(files, force=False)
    return NewLab(place, template, tuple(files), untrusted=trusted_or_why_not(place))


def algorithm_name(lab: str) -> str:
    """Return the name of a lab's algorithm in C and in the kernel: at most 15 characters, not one of Linux's names."""
    name = re.sub(r"[^a-z0-9_]", "_", lab.lower())
    if name[0].isdigit() or name in (*CONGESTION_CONTROLS, *STOCK, *_WORDS_OF_C):
        name = f"my_{name}"
    return name[:_LONGEST_NAME].rstrip("_")
