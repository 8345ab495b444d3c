"""A live lab's session as a lab: what was changed becomes its events, what was sent by hand a flow trace.

The lab's own files, as they were when it came up, are kept with their comments; what was set then is written into them.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.api.lab import PathLike
from fabriclab.errors import ArgumentError, FabriclabError
from fabriclab.files import read_text, write_all
from fabriclab.formats.names import NODE_NAME
from fabriclab.formats.plan import Plan, PlanError, parse_plan_json
from fabriclab.formats.run_directory import PLAN
from fabriclab.formats.trace import TRACE
from fabriclab.lab import Lab, experiment, parse_lab
from fabriclab.lab.network import topology
from fabriclab.lab.reading.document import ScalarValue, SequenceValue
from fabriclab.lab.reading.edited_yaml import EditedYaml
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES
from fabriclab.lab.reading.plain_data import scalar_text
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.settings import split_key
from fabriclab.lab.study_keys import VARIANT
from fabriclab.live.changes_log import LAB_FILES, Done, read_changes
from fabriclab.live.gather import LIVE_TRACE, Row, Started, rows_of, shifted_flows
from fabriclab.live.recording import Header, RecordingError, read_recording
from fabriclab.resolve import resolve_plan
from fabriclab.scratch import while_it_runs
from fabriclab.units import format_count, format_duration

README = "README.md"
_LARGEST_PLAN_BYTES = 1 << 30
_AFTER_NS = 1_000_000_000
_TRACE_NAME = "by-hand"
_OF_LISTENERS = ("receive_buffer", "send_buffer", "window_limit")
_NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)
_DROPPED = ("question", "minutes", "study", "matrix", "checks", "validation")
"""They are about another experiment."""


class SaveError(FabriclabError):
    """A session can't become a lab; the text says why."""


@dataclass(frozen=True)
class SavedLab:
    """A lab that was made of a live lab's session."""

    directory: Path
    events: int
    """How many changes became events."""
    flows: int
    """How many flows its trace has."""
    left_out: tuple[str, ...]
    """What could not be carried over, a sentence each."""


@dataclass
class _Session:
    """What is known of a session."""

    directory: Path
    header: Header
    plan: Plan
    done: tuple[Done, ...]
    commands: int
    left_out: list[str] = field(default_factory=list)


def save_lab(session: PathLike, directory: PathLike) -> SavedLab:
    """Make a lab of a live lab's session, given by its run directory, and return it. The lab may still be up.

    Raises RecordingError if the run directory is not that of a live lab, SaveError if the lab's files have changed
    since, ArgumentError if `directory` exists or its name can't be a lab's name, OSError.
    """
    target = Path(directory)
    if target.exists() or target.is_symlink():
        raise ArgumentError("{0} already exists; name a new directory", target)
    name = target.resolve().name
    if not NODE_NAME.is_in(name):
        raise ArgumentError("{0!r} is not a lab name; write letters, digits, '-' and '_', at most 63", name)
    found = _read(Path(session))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        saved = _write(found, part, name)
        part.chmod(0o755)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return SavedLab(target, *saved, tuple(found.left_out))


def _read(directory: Path) -> _Session:
    recording = read_recording(directory)
    opened = [taken.frame.data for taken in recording.inputs if taken.frame.data.startswith(b'{"exec"')]
    commands = sum(b'"watches":true' not in data.replace(b" ", b"") for data in opened)
    try:
        plan = parse_plan_json(read_text(directory / PLAN, _LARGEST_PLAN_BYTES))
    except PlanError as error:
        raise RecordingError(f"{directory / PLAN}: {error}") from error
    return _Session(directory, recording.header, plan, tuple(read_changes(directory)), commands)


def _write(session: _Session, part: Path, name: str) -> tuple[int, int]:
    """Write the lab's files; returns how many events and flows there are."""
    origin = Path(session.header.lab_directory)
    for path in sorted(origin.rglob("*")) if origin.is_dir() else ():
        if path.is_file() and path.name != README and path.suffix not in (".svg", ".html", ".png"):
            (part / path.relative_to(origin)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, part / path.relative_to(origin))
    texts = {
        file: read_text(session.directory / LAB_FILES / file, LARGEST_YAML_BYTES)
        for file in (topology.FILE_NAME, experiment.FILE_NAME)
    }
    write_all({part / file: text for file, text in texts.items()})
    lab = _same_lab(session, part)
    edited = EditedYaml(texts[experiment.FILE_NAME])
    _put_settings(session, lab, edited)
    rows = list(_flows(session))
    if session.header.idle and rows:
        for traffic in session.plan.traffic:
            edited.put(("traffic", traffic.name, "enabled"), False)
    elif session.header.idle:
        session.left_out.append("the session sent no traffic, but a lab must have traffic, so this lab sends its own")
    events = [event for done in session.done for event in _events(done)]
    for number, (event, at_ns) in enumerate(events, 1):
        edited.append(
            "events", _free(edited.names("events"), f"live-{number}"), {"at": format_duration(at_ns), **event}
        )
    if rows:
        trace = _free([file.name for file in part.iterdir()], _TRACE_NAME, ".csv")
        write_all({part / trace: _trace_text(rows)})
        edited.append("traffic", _free(edited.names("traffic"), _TRACE_NAME), {"kind": "trace", "file": trace})
    _put_limit(session, edited, [at_ns for _, at_ns in events], rows)
    _note_listeners(session, rows)
    dropped = [section for section in _DROPPED if edited.remove(section)]
    if dropped:
        session.left_out.append(f"{', '.join(dropped)} (they belong to the original experiment)")
    if session.commands:
        session.left_out.append(
            f"{format_count(session.commands, 'command')} in nodes (exec, shell, vtysh, cp), which a lab's files "
            "cannot describe"
        )
    text = _NAME_LINE.sub(f"name: {name}", texts[topology.FILE_NAME], count=1)
    readme = _readme(session, name, len(events), len(rows))
    write_all({part / topology.FILE_NAME: text, part / experiment.FILE_NAME: edited.text(), part / README: readme})
    parse_lab(part)
    return len(events), len(rows)


def _note_listeners(session: _Session, rows: Sequence[Row]) -> None:
    """Say what flows by hand had of their own listeners, which the lab's are not."""
    keys = {key for done in session.done if done.kind == "set" for key in done.details["keys"]}
    of_listeners = sorted(key for key in keys if rows and key.rpartition(".")[2] in _OF_LISTENERS)
    if of_listeners:
        session.left_out.append(
            f"{', '.join(of_listeners)} for flows that were started by hand: the lab's programs read these settings "
            "only when they start"
        )


def _same_lab(session: _Session, part: Path) -> Lab:
    """Return the lab as it came up. Raises SaveError where the files that it names are others now."""
    lab = parse_lab(part, every_point=False)
    settings = {
        key: ScalarValue(scalar_text(value) or "", Place(f"{key}={value}"), quoted=True)
        for key, value in session.plan.settings.items()
    }
    plan = resolve_plan(lab, settings, session.plan.seed)
    for what in ("nodes", "traffic", "events", "bgp"):
        if getattr(plan, what) != getattr(session.plan, what):
            origin = session.header.lab_directory
            raise SaveError(f"{origin}: the lab's files have changed since the session began ({what} would differ)")
    return lab


def _put_settings(session: _Session, lab: Lab, edited: EditedYaml) -> None:
    """Write what was set when the lab came up into its experiment."""
    settings = dict(session.plan.settings)
    variant = settings.pop(VARIANT, None)
    keys: dict[str, Any] = dict(lab.study.variants[str(variant)].values) if variant is not None else {}
    for name, value in settings.items():
        keys |= dict.fromkeys(lab.parameters.get(name, (name,)), value)
    for key, value in keys.items():
        edited.put(split_key(key), _plain(value))
    edited.put(("seed",), session.plan.seed)
    edited.put(("title",), f"A live session of {session.header.lab}: {session.plan.title}")


def _plain(value: Any) -> Any:
    if isinstance(value, SequenceValue):
        return [_plain(item) for item in value.items]
    return value.text if isinstance(value, ScalarValue) else value


def _events(done: Done) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield what a change is as an event, with its time."""
    details = done.details
    match done.kind:
        case "set":
            yield {"set": dict(details["keys"])}, done.at_ns
        case "link":
            yield {"link": details["port"], **details["settings"]}, done.at_ns
        case "node":
            yield {"node": details["node"], "action": details["action"]}, done.at_ns


def _flows(session: _Session) -> Iterator[Row]:
    """Yield the rows of all that was started by hand, numbered anew, as far as it was let."""
    stopped = {place: done.at_ns for done in session.done if done.kind == "stop" for place in _places(done)}
    cut = number = 0
    for done in session.done:
        if done.kind not in ("start", "flow"):
            continue
        place = str(done.details["directory"])
        stop_ns = stopped.get(place)
        trace = while_it_runs(session.directory, f"{place}/{LIVE_TRACE}")
        for row in shifted_flows(rows_of(trace), Started(place, done.at_ns)):
            if stop_ns is not None and not row.get("after") and int(row["start_ns"]) >= stop_ns:
                continue
            if stop_ns is not None and row.get("stop_ns"):
                row["stop_ns"] = str(min(stop_ns, int(row["stop_ns"])))
            elif stop_ns is not None:
                cut += 1
            if not row.get("congestion_control"):
                row["congestion_control"] = _control(session.plan, done.details.get("congestion_controls", {}), row)
            yield {**row, "flow": str(number)}
            number += 1
    if cut:
        session.left_out.append(
            f"{format_count(cut, 'flow')} that `stop` may have cut short: in the lab they are sent whole"
        )


def _control(plan: Plan, changed: Mapping[str, str], row: Row) -> str:
    """Return the congestion control that both ends of a flow had, where it is not the one that they began with.

    The lab's flows come to listeners that are opened at its beginning: they learn of another one by the trace alone.
    """
    found = set()
    for host in (row["src"], row["dst"]):
        transport = plan.node(host).transport
        found.add(changed.get(host, "" if transport is None else transport.congestion_control))
    return found.pop() if len(found) == 1 and not changed.keys().isdisjoint((row["src"], row["dst"])) else ""


def _places(done: Done) -> list[str]:
    """Return the directories of the starts that a stop ended: `query-3@h1` is of live/3."""
    numbers = {str(name).rpartition("@")[0].rpartition("-")[2] for name in done.details["programs"]}
    return [f"live/{number}" for number in numbers]


def _trace_text(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    out.write(f"{TRACE.first_line}\n")
    writer = csv.DictWriter(out, list(TRACE.columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _put_limit(session: _Session, edited: EditedYaml, times: Sequence[int], rows: Sequence[Mapping[str, str]]) -> None:
    """Let the run last so long that all its events and flows can be."""
    starts = [int(row["stop_ns"] or row["start_ns"] or 0) for row in rows]
    last_ns = max([*times, *starts], default=0)
    if last_ns >= session.plan.limit_ns:
        edited.put(("limit",), format_duration(last_ns + _AFTER_NS))


def _free(taken: Sequence[str], name: str, suffix: str = "") -> str:
    found, number = f"{name}{suffix}", 2
    while found in taken:
        found, number = f"{name}-{number}{suffix}", number + 1
    return found


def _readme(session: _Session, name: str, events: int, flows: int) -> str:
    what = f"{format_count(events, 'event')} and {format_count(flows, 'flow')} by hand"
    lines = [
        f"# {name}",
        "",
        f"Made by `fabriclab save-lab` of a live session of `{session.header.lab}`, seed {session.plan.seed}: {what}.",
        "Describe here what it shows, and why.",
    ]
    left = (
        ["", "Not carried over:", "", *(f"- {sentence}" for sentence in session.left_out)] if session.left_out else []
    )
    return "\n".join([*lines, *left]) + "\n"
