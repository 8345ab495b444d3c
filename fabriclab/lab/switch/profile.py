"""Switch profiles: files of `fabriclab/switches`, or of the lab's directory, in the words of a switch's section."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from fabriclab.keys.wording import listed, nearest, shown
from fabriclab.lab.reading.document import MappingValue, SequenceValue, parse_document
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, MissingError, UnreadableError, read_lab_file, text_of
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written, as_text, first_line
from fabriclab.lab.switch import keys
from fabriclab.lab.switch.layer import read_layer
from fabriclab.lab.switch.written import WrittenProfile

_SHOWN_DIRECTORY = "fabriclab/switches"
"""How messages name it: the same on every machine."""
_EXPERIMENT_KEYS = ("profile", "scale")
"""What a profile's file may not say: it is one switch, and the experiment scales it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,126}")


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that come with fabriclab, sorted."""
    return tuple(sorted(path.stem for path in keys.PROFILES.glob("*.yml")))


def read_profile(written: Written[str], directory: Path, problems: Problems) -> WrittenProfile | None:
    """Return the profile of a name: NAME.yml of the lab's directory, else the one that comes with fabriclab.

    None if there is none.
    """
    name = written.value.removesuffix(".yml")
    own = f"{name}.yml"
    if _NAME.fullmatch(name) is None:
        written.complain(
            problems, f"{shown(written.value)} cannot name a profile; write a name of letters, digits, '.', '-' and '_'"
        )
        return None
    try:
        data = _read_own(directory, own)
    except UnreadableError as error:
        written.complain(problems, f"{shown(own)} beside experiment.yml: {error}")
        return None
    if data is not None:
        file = str(directory / own)
    elif name in profile_names():
        data, file = (keys.PROFILES / own).read_bytes(), f"{_SHOWN_DIRECTORY}/{own}"
    else:
        near = nearest(name, profile_names())
        hint = f"did you mean {near!r}? " if near else ""
        where = f"{listed(profile_names())} (they come with fabriclab), or a file {name}.yml beside experiment.yml"
        written.complain(problems, f"{shown(written.value)} is not a switch profile; {hint}valid here: {where}")
        return None
    try:
        text = text_of(data)
    except UnicodeDecodeError:
        problems.add(Place(file), "", "cannot be read: it is not UTF-8")
        return None
    profile, found = parse_profile(text, name, file)
    problems.add_all(found)
    return profile


def _read_own(directory: Path, file: str) -> bytes | None:
    """Return a profile's file of the lab's directory; None when there is none."""
    try:
        return read_lab_file(directory, file, LARGEST_YAML_BYTES)
    except MissingError:
        return None


@lru_cache(maxsize=64)  # every point of a matrix reads the same few files
def parse_profile(text: str, name: str, file: str) -> tuple[WrittenProfile | None, Problems]:
    """Return the profile that a file holds, and all that is wrong with it."""
    problems = Problems()
    document = parse_document(text, file, problems)
    if document is None:
        return None, problems
    root = Section(_without_experiment_keys(document, problems), "", problems, keys.PROFILE)
    title = _read_head(root)
    bandwidth, port_rate = _read_speeds(root)
    layer = read_layer(root, {})
    hardware = root.scalar("hardware", "a text")
    checked = first_line(hardware.value) if hardware else ""
    return WrittenProfile(name, file, not problems, title, bandwidth, port_rate, layer, checked), problems


def _without_experiment_keys(document: MappingValue, problems: Problems) -> MappingValue:
    """Return the document without what belongs to an experiment, after recording that it does."""
    for key in _EXPERIMENT_KEYS:
        if key in document.entries:
            message = "belongs to an experiment; a profile's file describes one switch by itself"
            problems.add(document.key_place(key), key, message, key)
    entries = {key: value for key, value in document.entries.items() if key not in _EXPERIMENT_KEYS}
    return MappingValue(entries, document.key_places, document.place)


def _read_head(root: Section) -> str:
    """Return the title; the version and the sources are checked."""
    root.require("format", example=f"format: {keys.PROFILE_FORMAT}")
    root.read(keys.PROFILE_FORMAT_KEY)
    root.require("title", example="title: the switch in one line")
    root.require("source", example="source: where the figures come from, a text or a list")
    title, source = root.scalar("title", "a title"), root.get("source")
    for index, item in enumerate(source.items if isinstance(source, SequenceValue) else ()):
        as_text(item, f"source[{index}]", root.problems, "a text")
    if source is not None and not isinstance(source, SequenceValue):
        as_text(source, "source", root.problems, "a text or a list of texts")
    return first_line(title.value) if title else ""


def _read_speeds(root: Section) -> tuple[Written[int] | None, Written[int] | None]:
    """Return what the figures are made for: bits per second of all ports, and of one."""
    bandwidth = root.read(keys.PROFILE_BANDWIDTH)
    port_rate = root.read(keys.PROFILE_PORT_RATE)
    if ("bandwidth" in root) != ("port_rate" in root):
        missing = "port_rate" if "bandwidth" in root else "bandwidth"
        root.complain(
            missing, "missing; a profile that is scaled has both: bandwidth (all ports together) and port_rate (of one)"
        )
    if bandwidth is not None and port_rate is not None and bandwidth.value < port_rate.value:
        bandwidth.complain(
            root.problems,
            f"{shown(bandwidth.text)} is less than port_rate, {port_rate.text}; write the sum of all ports",
        )
    return bandwidth, port_rate
