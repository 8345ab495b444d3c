"""What the page of a change says, for who approves it: its sections, and the page in Markdown.

Markdown is for the comment of a pull request; `approval_html.py` has the same sections in the report's look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabriclab.units import format_count
from fabriclab.vendors.sonic.commands.diff import Difference
from fabriclab.vendors.sonic.commands.emulated import Emulation
from fabriclab.vendors.sonic.commands.fabric_difference import FabricDifference, RouteChange
from fabriclab.vendors.sonic.commands.rollout import Step, pairs_text
from fabriclab.vendors.sonic.judge import SonicFinding

TITLE = "Change of a SONiC fabric"
_MOST_ROWS = 40


@dataclass(frozen=True)
class Section:
    """A part of the page: words, then a table."""

    title: str
    words: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows that the page has."""
        return self.rows[:_MOST_ROWS]

    @property
    def left_out(self) -> str:
        """What is said of rows that the page does not have; empty: it has all."""
        more = len(self.rows) - _MOST_ROWS
        return f"{format_count(more, 'more row')} left out; `--format json` has all." if more > 0 else ""


def verdict(failed: str) -> str:
    """Return the verdict in words. `failed`: why the change fails; empty: it passes."""
    return f"Verdict: {'fails, ' + failed if failed else 'passes'}."


def summary(one: FabricDifference) -> str:
    """Return how much changes."""
    return (
        f"Changed switches: {len(one.changed)} of {len(one.switches)}; added: {len(one.added)}; "
        f"removed: {len(one.removed)}. Changed routes: {len(one.routes)}."
    )


def sections(
    one: FabricDifference, steps: Sequence[Step] | None, emulations: Sequence[Emulation]
) -> tuple[Section, ...]:
    """Return the parts of the page. `steps` None: not asked for."""
    every = (_findings(one), _changes(one), _routes(one), *_steps(steps), *map(_measured, emulations))
    return tuple(every)


def page(one: FabricDifference, steps: Sequence[Step] | None, emulations: Sequence[Emulation], failed: str) -> str:
    """Return the page in Markdown. `failed`: why the change fails by --fail-on; empty: it passes."""
    lines = [f"# {TITLE}", "", f"**{verdict(failed)}**", "", summary(one), ""]
    for section in sections(one, steps, emulations):
        lines += [f"## {section.title}", ""]
        lines += [_cell(section.words), ""] if section.words else []
        lines += _table(section) if section.rows else []
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: object) -> str:
    """Return a text that stays in its cell, and is no markup."""
    plain = "".join(letter if letter.isprintable() else " " for letter in str(text))
    for letter in "\\`*_[]<>|#":
        plain = plain.replace(letter, f"\\{letter}")
    return plain


def _table(section: Section) -> Iterator[str]:
    yield f"| {' | '.join(section.headings)} |"
    yield f"|{'---|' * len(section.headings)}"
    for row in section.shown:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"
    yield ""
    if section.left_out:
        yield section.left_out
        yield ""


def _findings(one: FabricDifference) -> Section:
    found = [(judgement.file, each) for judgement in one.judgements for each in judgement.findings]
    rows = tuple(_finding(*each) for each in found)
    return Section("New findings", "" if rows else "None.", ("severity", "rule", "where", "what"), rows)


def _finding(file: str, found: SonicFinding) -> tuple[str, str, str, str]:
    line = "" if found.line is None else f":{found.line}"
    return found.severity, found.rule, f"{file}{line} {found.where}", found.sentence


def _changes(one: FabricDifference) -> Section:
    rows = tuple(row for name, each in one.changed.items() for row in _rows(name, each))
    title = "What the switches do otherwise"
    return Section(title, "" if rows else "Nothing.", ("switch", "what", "old", "new"), rows)


def _rows(name: str, each: Difference) -> Iterator[tuple[str, str, str, str]]:
    if each.not_compared:
        yield name, "not compared", "", each.not_compared
    for change in each.changes:
        yield name, change.what, "not there" if change.old is None else change.old, change.new or "gone"


def _routes(one: FabricDifference) -> Section:
    rows = () if one.not_routed else tuple(_route(each) for each in one.routes)
    words = f"{one.not_routed}." if one.not_routed else "" if rows else "No route changes."
    return Section("Routes", words, ("switch", "to", "old next hops", "new next hops"), rows)


def _route(change: RouteChange) -> tuple[str, str, str, str]:
    old, new = (", ".join(hops) or "no route" for hops in (change.old, change.new))
    return change.switch, change.prefix, old, new


def _steps(steps: Sequence[Step] | None) -> Iterator[Section]:
    if steps is None:
        return
    rows = []
    for number, step in enumerate(steps, start=1):
        wrong = "; ".join([*step.errors, *([f"lost: {pairs_text(step.lost)}"] if step.lost else [])])
        meanwhile = pairs_text(step.meanwhile) if step.meanwhile else "nothing"
        rows.append((str(number), f"{step.switch} ({step.what})", wrong or "sound", meanwhile))
    words = "Each row is the state after this switch has its new file. While it reloads, it forwards nothing."
    headings = ("step", "switch", "state after it", "others lose while it reloads")
    yield Section("Order of the rollout", words, headings, tuple(rows))


def _measured(each: Emulation) -> Section:
    if each.why_not:
        reasons: tuple[tuple[str, ...], ...] = tuple((line,) for line in each.why_not.splitlines())
        return Section(f"Emulation: {each.name}", "A version cannot be a lab, so neither was run.", ("why",), reasons)
    title, how = f"Emulation: {each.name}", f"Both versions run with {each.seeds_text}, in virtual time."
    words = " ".join(filter(None, [f"{each.traffic}." if each.traffic else "", how]))
    several = len(each.seeds) > 1
    rows = tuple(
        (one.title, one.text(one.old), one.text(one.new), *([one.interval] if several else []), one.verdict)
        for one in each.measured
    )
    return Section(title, words, ("metric", "old", "new", *(["change, 95 % interval"] if several else []), ""), rows)
