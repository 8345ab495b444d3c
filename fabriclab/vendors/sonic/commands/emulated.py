"""Both versions of a fabric as emulations: the same traffic on each, and what was measured side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from fabriclab.api.run import run
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.files import write_all
from fabriclab.formats.metrics import BY_NAME
from fabriclab.lab import LabError, experiment
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, UnreadableError, read_named_file
from fabriclab.results.differences import FEWEST, Difference, difference
from fabriclab.units import format_duration, format_rate, format_size
from fabriclab.vendors.sonic.fabric.class_rules import lossless_dscps
from fabriclab.vendors.sonic.fabric.view import read_view
from fabriclab.vendors.sonic.lab import ImportedFabric, import_fabric
from fabriclab.vendors.sonic.lab.cabling import Cable
from fabriclab.vendors.sonic.lab.fabric_files import hosts_of

LOAD, FAILURE, OWN = "in-cast", "failure of a link", "own experiment"
_METRICS = {
    LOAD: (
        *("flows_complete", "fct_median_ns", "fct_p99_ns", "goodput_bps", "queue_drops", "wred_drops"),
        *("ingress_discards", "ecn_marks", "pauses_sent", "paused_ns", "timeouts", "pool_max_bytes"),
    ),
    FAILURE: ("flows_complete", "reconvergence_ns", "queue_drops", "timeouts"),
}
_NONE = "not measured"
_DIGITS = 4


_Values = Mapping[int, float]
"""By seed; a seed is missing where nothing was measured."""


@dataclass(frozen=True)
class Measured:
    """A number of both versions, of each seed."""

    metric: str
    before: _Values
    after: _Values

    @property
    def title(self) -> str:
        """The metric in words."""
        return BY_NAME[self.metric].title

    @property
    def old(self) -> float | None:
        """The mean of the old version. None: it was not measured."""
        return _mean(self.before)

    @property
    def new(self) -> float | None:
        """The mean of the new version. None: it was not measured."""
        return _mean(self.after)

    @property
    def seeds(self) -> frozenset[int]:
        """Those of which anything was measured."""
        return frozenset((*self.before, *self.after))

    @cached_property
    def _difference(self) -> Difference | None:
        whole = all(value.is_integer() for one in (self.before, self.after) for value in one.values())
        unit = self.metric.rpartition("_")[2]
        return difference(self.before, self.after, is_count=whole and unit not in ("ns", "bps", "bytes"))

    @property
    def _ends(self) -> tuple[float, float] | None:
        return None if self._difference is None else self._difference.interval()

    @property
    def is_worse(self) -> bool:
        """Whether the new number is the worse one, as far as less or more is better of it."""
        if self.old is None or self.new is None:
            return self.new is None and self.old is not None
        better = BY_NAME[self.metric].better
        return (better == "less" and self.new > self.old) or (better == "more" and self.new < self.old)

    @property
    def verdict(self) -> str:
        """A word: worse, differs, or nothing; of several seeds also better, and undecided, where the interval of the
        change has 0 in it or the seeds are too few for one."""
        if self.before == self.after:
            return ""
        if len(self.seeds) > 1 and (self._ends is None or self._ends[0] <= 0 <= self._ends[1]):
            return "undecided"
        is_known = len(self.seeds) > 1 and BY_NAME[self.metric].better in ("less", "more")
        return "worse" if self.is_worse else "better" if is_known else "differs"

    @property
    def interval(self) -> str:
        """The interval of the change, in words; empty where nothing changed."""
        if self.before == self.after:
            return ""
        if self._ends is None:
            return f"fewer than {FEWEST} seeds"
        return " to ".join(f"{'+' if end > 0 else '-' if end < 0 else ''}{self.text(abs(end))}" for end in self._ends)

    def text(self, value: float | None) -> str:
        """Return a number with its unit."""
        if value is None:
            return _NONE
        unit = self.metric.rpartition("_")[2]
        texts = {"ns": format_duration, "bps": format_rate, "bytes": format_size}
        return texts[unit](value, _DIGITS) if unit in texts else f"{value:.{_DIGITS}g}" if value % 1 else f"{value:g}"


def _mean(values: _Values) -> float | None:
    return sum(values.values()) / len(values) if values else None


@dataclass(frozen=True)
class Emulation:
    """A traffic on both versions."""

    name: str
    traffic: str
    """In words."""
    measured: tuple[Measured, ...]
    seeds: tuple[int, ...]
    why_not: str = ""
    """Why the versions could not be emulated; empty: they were."""

    @property
    def seeds_text(self) -> str:
        """The seeds in words."""
        return "one seed" if len(self.seeds) == 1 else f"the same {len(self.seeds)} seeds"


def emulated(
    old: Sequence[Path], new: Sequence[Path], cables: Sequence[Cable], own: Path | None, seeds: int = 1
) -> tuple[Emulation, ...]:
    """Run both versions with each traffic and each seed from 1 to `seeds`, and return what was measured, or why a
    version cannot be a lab. `own`: an experiment.yml, instead of ours.

    Raises BadInputError for one that cannot be read.
    """
    own_text = None if own is None else _own(own)
    try:
        fabrics = tuple(import_fabric(files, "fabric", cables=cables) for files in (old, new))
    except LabError as error:
        return (_not_emulated(str(error)),)
    if own_text is None and len(_hosts_in_common(fabrics)) < 2:
        return (_not_emulated("the versions have fewer than two hosts in common, and traffic needs two"),)
    kinds = dict(_experiments(fabrics, old, cables)) if own_text is None else {OWN: ("", own_text)}
    found = []
    for name, (words, text) in kinds.items():
        every = tuple(range(1, seeds + 1))
        summaries = [
            {seed: _summary(fabric, text, f"{name}, {which}, seed {seed}", seed) for seed in every}
            for fabric, which in zip(fabrics, ("old", "new"), strict=True)
        ]
        metrics = _METRICS.get(name, (*_METRICS[LOAD], "reconvergence_ns"))
        measured = [Measured(metric, *(_values(one, metric) for one in summaries)) for metric in metrics]
        known = tuple(each for each in measured if each.before or each.after)
        found.append(Emulation(name, words, known, every))
    return tuple(found)


def _not_emulated(why: str) -> Emulation:
    return Emulation("not done", "", (), (), why)


def _hosts_in_common(fabrics: Sequence[ImportedFabric]) -> list[str]:
    old, new = (hosts_of(fabric.stubs) for fabric in fabrics)
    return [host for host in old if host in new]


def _own(path: Path) -> str:
    try:
        return read_named_file(path, LARGEST_YAML_BYTES).decode("utf-8")
    except (UnreadableError, UnicodeDecodeError) as error:
        raise BadInputError(f"--experiment {path}: {error}") from error


def _experiments(
    fabrics: Sequence[ImportedFabric], old: Sequence[Path], cables: Sequence[Cable]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield name, words and text of each experiment: hosts and links that both versions have."""
    hosts = _hosts_in_common(fabrics)
    head = _buffers(fabrics)
    view = read_view(old, cables)
    dscps = lossless_dscps(view)
    classes = [("lossless", dscps[0])] if dscps else []
    classes += [("lossy", next(dscp for dscp in range(64) if dscp not in dscps))] if len(dscps) < 64 else []
    receiver, senders = hosts[0], ", ".join(hosts[1:])
    rounds = [
        f"  {name}: {{kind: rounds, senders: [{senders}], receiver: {receiver}, size: 64 KB, rounds: 20, dscp: {dscp}}}"
        for name, dscp in classes
    ]
    words = ", ".join(f"DSCP {dscp} ({name})" for name, dscp in classes)
    yield (
        LOAD,
        (
            f"20 rounds in which {len(hosts) - 1} hosts send 64 KB each to {receiver}, of {words}",
            _text(head, ["traffic:", *rounds]),
        ),
    )
    kept = [link for link in fabrics[0].links if any(link.ends == one.ends for one in fabrics[1].links)]
    if kept:
        cut, every_host = str(kept[0].a), ", ".join(hosts)
        load = f"{{kind: arrivals, senders: [{every_host}], size: 64 KB, load: 1 %, stop: 30 ms}}"
        yield (
            FAILURE,
            (
                f"Each host sends to others at 1 % of its link; after 2 ms the link at {cut} goes down",
                _text(
                    head,
                    [
                        "traffic:",
                        f"  background: {load}",
                        f"events: {{cut: {{at: 2 ms, link: '{cut}', action: down}}}}",
                    ],
                ),
            ),
        )


def _buffers(fabrics: Sequence[ImportedFabric]) -> list[str]:
    """Return the lines of an import about switches without buffers, of both versions."""
    lines: dict[str, None] = {}
    for fabric in fabrics:
        text = fabric.files[experiment.FILE_NAME].decode().splitlines()
        start = text.index("switches:") if "switches:" in text else len(text)
        lines |= dict.fromkeys(text[start : start + 1])
        for line in text[start + 1 :]:
            if not line.startswith("  "):
                break
            lines[line] = None
    return list(lines)


def _text(head: Sequence[str], lines: Sequence[str]) -> str:
    every = ("title: a change of a fabric", *head, *lines, "probes: {switches: {interval: 1 ms}}")
    return "".join(f"{line}\n" for line in every)


def _summary(fabric: ImportedFabric, text: str, what: str, seed: int) -> Mapping[str, object]:
    say(f"running: {what}")
    with TemporaryDirectory(prefix="fabriclab-diff-") as scratch:
        lab = Path(scratch) / "lab"
        files = {**fabric.files, experiment.FILE_NAME: text.encode()}
        write_all({lab / name: data for name, data in files.items()})
        return dict(run(lab, seed=seed, out=Path(scratch) / "run").summary)


def _values(summaries: Mapping[int, Mapping[str, object]], metric: str) -> _Values:
    found = {seed: summary.get(metric) for seed, summary in summaries.items()}
    return {seed: float(value) for seed, value in found.items() if isinstance(value, int | float)}
