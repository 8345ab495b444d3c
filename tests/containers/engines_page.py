"""The tables of docs/engines.md: both engines beside each other, made of docs/engines.json.

`make test-containers` measures, and `side_by_side.py keep DIRECTORY` writes what it found there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from cases import CASES, NOT_ITSELF, NOT_RUN
from side_by_side import outside

from fabriclab.report.measured.quantities import format_metric, keep_units, metric_title
from fabriclab.units import format_duration

Case = Mapping[str, Any]
_DIGITS = 4
WAITING = "its case (`tests/containers/cases.py`) was not measured yet"


def tables(record: Mapping[str, Any]) -> str:
    """Return the page's tables as Markdown: what was measured, what the containers' links were, what did not run."""
    parts = (_measured(record["cases"]), _links(record["cases"]), _absent({case["lab"] for case in record["cases"]}))
    return "\n".join("\n".join(part) + "\n" for part in parts)


def _measured(cases: list[Case]) -> Iterator[str]:
    yield "| lab | metric | virtual machine, five seeds | containers | outside of the seeds |"
    yield "|---|---|---|---|---|"
    for case in cases:
        title = _linked(case["lab"], case["name"])
        title += "" if case["status"] == "complete" else f" ({case['status']})"
        for metric in case["metrics"]:
            if not (any(metric["vm"] or ()) or metric["containerlab"]):
                continue  # neither drops nor marks: nothing to compare
            name = metric["name"]
            containers = keep_units(format_metric(name, metric["containerlab"]))
            machine = _range(name, metric["vm"])
            yield f"| {title} | {metric_title(name)} | {machine} | {containers} | {_difference(metric)} |"
            title = ""


def _linked(lab: str, name: str) -> str:
    """Return the name as a link to its lab's page, where it has one."""
    return f"[{name}](../{lab}/README.md)" if lab.startswith("labs/") else name


def _range(name: str, values: list[float] | None) -> str:
    """Return the median of the seeds, and the least and the most where they differ."""
    if values is None:
        return keep_units(format_metric(name, None))
    least, middle, most = (keep_units(format_metric(name, value)) for value in (values[0], median(values), values[-1]))
    return middle if least == most else f"{middle} ({least} to {most})"


def _difference(metric: Mapping[str, Any]) -> str:
    off = outside(metric["vm"], metric["containerlab"])
    if off is None:
        known = metric["vm"] is not None and metric["containerlab"] is not None
        return _with_reason("of nothing" if known else "not known", metric)
    return "within" if not off else _with_reason(f"{off:+.1%}".replace("%", " %"), metric)


def _with_reason(shown: str, metric: Mapping[str, Any]) -> str:
    return f"{shown} ({metric['reason']})" if metric["reason"] else shown


def _links(cases: list[Case]) -> Iterator[str]:
    yield "| lab | round trip, planned | measured | longer by | slowest or fastest link |"
    yield "|---|---|---|---|---|"
    for case in cases:
        path, line = case["slowest_path"], case["worst_line"]
        if path is None or line is None:
            continue
        planned, measured = (format_duration(path[key], _DIGITS) for key in ("planned_ns", "measured_ns"))
        longer = format_duration(path["measured_ns"] - path["planned_ns"], _DIGITS)
        deviation = f"{line['deviation']:+.1%}".replace("%", " %")
        yield f"| {case['name']} | {planned} | {measured} | {longer} | {deviation} |"


def _absent(measured: set[str]) -> Iterator[str]:
    """Yield the labs that are not there, or not as what they are about."""
    waiting = {case.lab: WAITING for case in CASES if case.lab not in measured}
    reasons = {
        lab: "; ".join(part[lab] for part in (NOT_ITSELF, waiting) if lab in part) for lab in NOT_ITSELF | waiting
    }
    yield "| lab | why it is not here |"
    yield "|---|---|"
    for lab, reason in sorted((NOT_RUN | reasons).items()):
        yield f"| {_linked(lab, lab.removeprefix('labs/'))} | {reason} |"
