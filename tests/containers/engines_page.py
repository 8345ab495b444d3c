"""The tables of docs/engines.md: both engines beside each other, made of docs/engines.json.

`make test-containers` measures, and `side_by_side.py keep DIRECTORY` writes what it found there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cases import CASES, NOT_ITSELF, NOT_RUN

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
    yield "| lab | metric | virtual machine | containers | difference |"
    yield "|---|---|---|---|---|"
    for case in cases:
        title = _linked(case["lab"], case["name"])
        title += "" if case["status"] == "complete" else f" ({case['status']})"
        for metric in case["metrics"]:
            if not (metric["vm"] or metric["containerlab"]):
                continue  # neither drops nor marks: nothing to compare
            name = metric["name"]
            values = " | ".join(keep_units(format_metric(name, metric[engine])) for engine in ("vm", "containerlab"))
            yield f"| {title} | {metric_title(name)} | {values} | {_difference(metric)} |"
            title = ""


def _linked(lab: str, name: str) -> str:
    """Return the name as a link to its lab's page, where it has one."""
    return f"[{name}](../{lab}/README.md)" if lab.startswith("labs/") else name


def _difference(metric: Mapping[str, Any]) -> str:
    machine, containers = metric["vm"], metric["containerlab"]
    if machine is None or containers is None:
        return "not known"
    if machine == containers:
        return "none"
    shown = f"{containers / machine - 1:+.1%}".replace("%", " %") if machine else "of nothing"
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
