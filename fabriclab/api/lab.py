"""A lab as a script has it: read from its two files, or made of text or plain data; changed, written, and checked as
files are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from fabriclab.api.lab_names import directory_of, find_lab_or_own_file
from fabriclab.api.rendering import rendered
from fabriclab.errors import ArgumentError
from fabriclab.formats import ranges
from fabriclab.lab import Lab as WrittenLab
from fabriclab.lab import parse_documents, parse_lab
from fabriclab.lab.experiment import FILE_NAME
from fabriclab.lab.network import topology
from fabriclab.lab.reading.document import MappingValue, ScalarValue, parse_document
from fabriclab.lab.reading.kernel_names import ask_kernel_by
from fabriclab.lab.reading.plain_data import Key, document_of, scalar_text, with_value, without
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.settings import split_key
from fabriclab.lab.setup.frr_versions import ask_versions_by

PathLike = str | os.PathLike[str]
Setting = str | int | float | bool | ScalarValue
"""A setting's value: what `--set` takes as text (`"256 KB"`), a number, or True and False for on and off."""
Settings = Mapping[str, Setting]

_TOPOLOGY_KEYS = ("name", "topology", "prefix", "mgmt", "settings", "debug")


def _congestion_controls() -> Sequence[str]:
    from fabriclab.engine.modules import kernel_congestion_controls

    return kernel_congestion_controls()


@cache
def _rootfs() -> Path | None:
    """Return the machine's root file system: to find it takes a process, and each router of a lab asks."""
    from fabriclab.engine.frr import own_rootfs

    return own_rootfs()


def _frr_versions() -> Sequence[str]:
    from fabriclab.engine.frr import built_versions

    return tuple(built_versions(_rootfs()))


ask_kernel_by(_congestion_controls)
ask_versions_by(_frr_versions)
_NOWHERE = Path("(a lab without a directory)")


@dataclass(frozen=True)
class Lab:
    """A lab that was read and is correct. It does not change: methods that change it return another lab."""

    written: WrittenLab
    """The lab as the layers below have it."""
    settings: Settings = field(default_factory=dict)
    """What `with_settings` gave: every run begins with these."""

    @property
    def name(self) -> str:
        """The lab's name, as in its topology."""
        return self.written.name

    @property
    def directory(self) -> Path:
        """The directory that the lab was read from. Files that the lab names, such as a trace, are in it."""
        return self.written.directory

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that can be set by name, beside `variant`, `seed` and any key of the experiment."""
        return tuple(self.written.parameters)

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants."""
        return self.written.variants

    @property
    def matrices(self) -> tuple[str, ...]:
        """The names of the matrices; the first one is the default of `sweep`."""
        return self.written.matrices

    @classmethod
    def from_yaml(cls, topology: str, experiment: str, directory: PathLike | None = None) -> Lab:
        """Return the lab of the texts of its two files.

        `directory` has the files that the lab names.

        Raises LabError. The `file` of a mistake is `topology` or `experiment`, and its `line` counts in that text.
        """
        problems = Problems()
        documents = [
            parse_document(text, name, problems) for name, text in (("topology", topology), ("experiment", experiment))
        ]
        problems.raise_if_any()
        return cls._of([document for document in documents if document is not None], directory)

    @classmethod
    def from_data(
        cls, topology: Mapping[str, Any], experiment: Mapping[str, Any], directory: PathLike | None = None
    ) -> Lab:
        """Return the lab of the contents of its two files as mappings, lists, texts, numbers, True and False.

        Raises LabError. The `file` of a mistake is the place of the value, such as
        `experiment['switches']['default']['buffer']`.
        """
        problems = Problems()
        documents = [
            document_of(data, name, problems) for name, data in (("topology", topology), ("experiment", experiment))
        ]
        problems.raise_if_any()
        return cls._of(documents, directory)

    @classmethod
    def _of(cls, documents: Sequence[MappingValue], directory: PathLike | None) -> Lab:
        first, second = documents
        return cls(parse_documents(_NOWHERE if directory is None else Path(directory), first, second))

    def with_settings(self, settings: Settings) -> Lab:
        """Return the lab with settings for all its runs.

        They override the settings that it has already; `set=` of a call overrides them.

        Nothing is checked before the lab is planned or run.
        """
        return replace(self, settings={**self.settings, **settings})

    def replace(self, key: str | Sequence[str | int], value: Any) -> Lab:
        """Return the lab with another value at a key of either file: `switches.default.buffer`,
        `topology.links.0.vars.rate`.

        The key may be a sequence of its words instead, where one of them has a dot. The value is a text, a number, True
        or False, or a mapping or list of such. Missing sections are made. Raises LabError if the lab is wrong with the
        new value; the mistake's `file` is `replace('switches.default.buffer')`.
        """
        words = _words(key)
        problems = Problems()
        place = f"replace({'.'.join(map(str, words))!r})"
        changed = with_value(self._document_of(words), words, value, place, problems)
        problems.raise_if_any()
        return self._with_document(words, changed)

    def remove(self, key: str | Sequence[str | int]) -> Lab:
        """Return the lab without a key of either file, named as for `replace`.

        Raises KeyError if the key does not exist, LabError if the lab is wrong without it.
        """
        words = _words(key)
        return self._with_document(words, without(self._document_of(words), words))

    def texts(self) -> dict[str, str]:
        """Return the contents of the lab's two files, by their names. Comments of files that were read are not kept."""
        from fabriclab.lab.reading.plain_data import yaml_text

        return {
            topology.FILE_NAME: yaml_text(self.written.topology_document),
            FILE_NAME: yaml_text(self.written.document),
        }

    def write(self, directory: PathLike, *, force: bool = False) -> Path:
        """Write the lab's two files into a directory and return it. The directory is made.

        Other files that the lab names are not copied.

        Raises ArgumentError if one of them already exists and `force` is not set, OSError.
        """
        from fabriclab.files import write_files

        write_files({Path(directory) / name: text for name, text in self.texts().items()}, force=force)
        return Path(directory)

    def _document_of(self, words: Sequence[Key]) -> MappingValue:
        return self.written.topology_document if words[0] in _TOPOLOGY_KEYS else self.written.document

    def _with_document(self, words: Sequence[Key], changed: MappingValue) -> Lab:
        of_topology = words[0] in _TOPOLOGY_KEYS
        first = changed if of_topology else self.written.topology_document
        second = self.written.document if of_topology else changed
        return replace(self, written=parse_documents(self.directory, first, second))


def load_lab(lab: PathLike, variables: Sequence[PathLike] = ()) -> Lab:
    """Return the lab in a directory, or the lab of that name in `labs` or among fabriclab's own labs.

    A Containerlab file whose nodes all run here is also a lab. It gets some traffic to begin with.

    Raises LabError with every mistake in its two files, ArgumentError if there is no lab.
    """
    return load_found(find_lab_or_own_file(Path(lab)), Path(lab), variables)


def load_found(path: Path, written: Path, variables: Sequence[PathLike] = ()) -> Lab:
    """Return the lab that was found at a path for what was written. Raises LabError as `load_lab` does."""
    if path.is_dir():
        return Lab(parse_lab(path, every_point=False))
    return lab_of_file(path, variables, directory_of(path, written))


def lab_of_file(file: Path, variables: Sequence[PathLike] = (), directory: Path | None = None) -> Lab:
    """Return the lab that a Containerlab file is by itself; what was made up for it is among the notes of its topology.

    `variables` are files with the variables of a Go template, by default those beside it. `directory` is the lab's, in
    which all of its files lie, by default the one that the file lies in.

    Raises LabError with everything that is wrong in it.
    """
    from fabriclab.other_labs import own_lab

    directory = file.parent if directory is None else directory
    text = rendered(file, variables)
    made = own_lab(file, text, directory)
    written = parse_documents(directory, made.topology, made.experiment)
    notes = (*written.topology.notes, *(f"{file.name}: {note}" for note in made.notes))
    noted = replace(written.topology, notes=notes)
    return Lab(
        replace(
            written,
            topology=noted,
            topology_file=str(file.relative_to(directory)),
            topology_text=None if text is None else text.text,
        )
    )


def loaded(lab: Lab | PathLike) -> Lab:
    """Return the lab that an argument means."""
    return lab if isinstance(lab, Lab) else load_lab(lab)


def written_settings(lab: Lab, settings: Settings | None) -> dict[str, str | ScalarValue]:
    """Return the settings of a lab and of a call as the lab reads them; a mistake's place is that of the argument."""
    return dict(settings_as_written({**lab.settings, **(settings or {})}))


def settings_as_written(settings: Settings) -> dict[str, ScalarValue]:
    """Return settings as the lab reads them, each with its place. Raises ArgumentError for a value that is none."""
    return {name: _written(name, value) for name, value in settings.items()}


def _written(name: str, value: Setting) -> ScalarValue:
    if isinstance(value, ScalarValue):
        return value
    text = scalar_text(value)
    if text is None:
        raise ArgumentError("set={{{0!r}: {1!r}}}: the value must be a text, a number, True or False", name, value)
    return ScalarValue(text, Place(f"set={{{name!r}: {value!r}}}"), quoted=True)


def check_seed(seed: int | None) -> None:
    """Raise ArgumentError for a seed that is none."""
    if seed is not None and not 0 <= seed <= ranges.SEED.most:
        raise ArgumentError("{seed} {0}: must be a whole number from 0 to {1}", seed, ranges.SEED.most)


def _words(key: str | Sequence[str | int]) -> list[Key]:
    words: list[Key] = list(split_key(key)) if isinstance(key, str) else list(key)
    if not words or words == [""]:
        raise ArgumentError("the key is empty; name one of the lab's files, such as switches.default.buffer")
    return words
