"""One page in Markdown of a change, for who approves it, or as the comment of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.units import format_count
from fabriclab.vendors.sonic.commands.diff import Difference
from fabriclab.vendors.sonic.commands.emulated import Emulation
from fabriclab.vendors.sonic.commands.fabric_difference import FabricDifference, RouteChange
from fabriclab.vendors.sonic.commands.rollout import Step, pairs_text
from fabriclab.vendors.sonic.judge import SonicFinding

_MOST_ROWS = 40


def page(one: FabricDifference, steps: Sequence[Step] | None, emulations: Sequence[Emulation], failed: str) -> str:
    """Return the page. `failed`: why the change fails by --fail-on; empty: it passes. `steps` None: not asked for."""
    parts = (_head(one, failed), _findings(one), _changes(one), _routes(one), _steps(steps), _measured(emulations))
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _head(one: FabricDifference, failed: str) -> Iterator[str]:
    changed = one.changed
    yield "# Change of a SONiC fabric"
    yield ""
    yield f"**Verdict: {'fails, ' + failed if failed else 'passes'}.**"
    yield ""
    yield (
        f"{format_count(len(changed), 'switch')} of {len(one.switches)} change, {len(one.added)} are added, "
        f"{len(one.removed)} are removed. {format_count(len(one.routes), 'route')} change."
    )
    yield ""


def _cell(text: object) -> str:
    """Return a text that stays in its cell, and is no markup."""
    plain = "".join(letter if letter.isprintable() else " " for letter in str(text))
    for letter in "\\`*_[]<>|#":
        plain = plain.replace(letter, f"\\{letter}")
    return plain


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows[:_MOST_ROWS]:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"
    yield ""
    if len(rows) > _MOST_ROWS:
        yield f"{len(rows) - _MOST_ROWS} more rows are left out; `--format json` has all."
        yield ""


def _findings(one: FabricDifference) -> Iterator[str]:
    yield "## New findings"
    yield ""
    found = [(judgement.file, each) for judgement in one.judgements for each in judgement.findings]
    if not found:
        yield "None."
        yield ""
        return
    yield from _table(("severity", "rule", "where", "what"), [_finding(*each) for each in found])


def _finding(file: str, found: SonicFinding) -> tuple[str, str, str, str]:
    line = "" if found.line is None else f":{found.line}"
    return found.severity, found.rule, f"{file}{line} {found.where}", found.sentence


def _changes(one: FabricDifference) -> Iterator[str]:
    yield "## What the switches do otherwise"
    yield ""
    rows = [row for name, each in one.changed.items() for row in _rows(name, each)]
    if rows:
        yield from _table(("switch", "what", "old", "new"), rows)
    else:
        yield "Nothing."
        yield ""


def _rows(name: str, each: Difference) -> Iterator[tuple[str, str, str, str]]:
    if each.not_compared:
        yield name, "not compared", "", each.not_compared
    for change in each.changes:
        yield name, change.what, "not there" if change.old is None else change.old, change.new or "gone"


def _routes(one: FabricDifference) -> Iterator[str]:
    yield "## Routes"
    yield ""
    if one.not_routed:
        yield f"{_cell(one.not_routed)}."
        yield ""
    elif one.routes:
        yield from _table(("switch", "to", "old next hops", "new next hops"), [_route(each) for each in one.routes])
    else:
        yield "No route changes."
        yield ""


def _route(change: RouteChange) -> tuple[str, str, str, str]:
    old, new = (", ".join(hops) or "no route" for hops in (change.old, change.new))
    return change.switch, change.prefix, old, new


def _steps(steps: Sequence[Step] | None) -> Iterator[str]:
    if steps is None:
        return
    yield "## Order of the rollout"
    yield ""
    yield "Each row is the state after this switch has its new file. While it reloads, it forwards nothing."
    yield ""
    rows = []
    for number, step in enumerate(steps, start=1):
        wrong = "; ".join([*step.errors, *([f"lost: {pairs_text(step.lost)}"] if step.lost else [])])
        meanwhile = pairs_text(step.meanwhile) if step.meanwhile else "nothing"
        rows.append((number, f"{step.switch} ({step.what})", wrong or "sound", meanwhile))
    yield from _table(("step", "switch", "state after it", "others lose while it reloads"), rows)


def _measured(emulations: Sequence[Emulation]) -> Iterator[str]:
    for each in emulations:
        yield f"## Emulation: {each.name}"
        yield ""
        if each.traffic:
            yield f"{_cell(each.traffic)}. Both versions run with one seed, in virtual time."
            yield ""
        rows = [(one.title, one.text(one.old), one.text(one.new), one.verdict) for one in each.measured]
        yield from _table(("metric", "old", "new", ""), rows)
