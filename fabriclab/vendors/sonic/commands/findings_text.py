"""What was found in SONiC configurations as text, JSON and JUnit XML."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from fabriclab.cli.text.junit import JunitCase
from fabriclab.formats.finding import SEVERITIES
from fabriclab.keys.wording import listed
from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.vendors.sonic.fabric import FabricJudgement
from fabriclab.vendors.sonic.judge import Judgement, Rule, SonicFinding
from fabriclab.vendors.sonic.judge.findings import ports_text
from fabriclab.vendors.sonic.judge.rules import FABRIC_RULES, SWITCH_RULES

FORMAT = "fabriclab-sonic-check-1"
_WIDTH = 110
_INDENT = " " * 7


def as_text(judgements: Sequence[Judgement], fabric: FabricJudgement | None = None) -> str:
    """Return a table of each file: line, severity, rule, table|key|field; below each what it means. At the end what was
    judged together."""
    files = ["".join(f"{_plain(line)}\n" for line in _text(each, len(judgements) == 1)) for each in judgements]
    last = [*_chips(judgements), *([] if fabric is None else [fabric.sentence])] if len(judgements) > 1 else []
    return "\n".join([*files, *(["".join(f"{_plain(line)}\n" for line in last)] if last else [])])


def _chips(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Yield what is known of the chips of several files, each once."""
    files: dict[str, list[str]] = {}
    for each in judgements:
        files.setdefault(each.chip, []).append(each.file)
    for chip, of in files.items():
        if chip:
            yield f"chip: {chip}" if len(files) == 1 else f"chip of {listed(of)}: {chip}"


def _plain(text: str) -> str:
    """Return a line for a terminal or XML: names in a file may hold anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _text(judgement: Judgement, is_alone: bool) -> Iterator[str]:
    counts = [
        f"{count} {severity}{'s' if count != 1 else ''}" for severity, count in _counts(judgement).items() if count
    ]
    unjudged = f", {len(judgement.not_emulated)} not judged" if judgement.not_emulated else ""
    yield f"{judgement.file}: {', '.join(counts) if counts else 'nothing found'}{unjudged}, {judgement.ports} ports"
    if judgement.chip and is_alone:
        yield f"chip: {judgement.chip}"
    width = max((len(one.rule) for one in judgement.findings), default=0)
    for one in judgement.findings:
        yield ""
        yield f"{one.line or '':>6} {one.severity:7}  {one.rule:{width}}  {one.where}".rstrip()
        yield from textwrap.wrap(
            _sentence(one), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False
        )
    if judgement.more:
        yield ""
        yield f"and {judgement.more} more"
    if judgement.skipped:
        yield ""
        yield judgement.skipped
    if judgement.not_emulated:
        yield ""
        yield "not judged, because it acts in the switch and is not emulated:"
    for acting in judgement.not_emulated:
        yield f"{acting.place.line or '':>6} {acting.where}{_bound(acting)}: {acting.why}"


def _bound(acting: NotEmulated) -> str:
    return f" ({ports_text(acting.ports)})" if acting.ports else ""


def _sentence(one: SonicFinding) -> str:
    return one.sentence if one.value or not one.where else f"{one.sentence[:1].upper()}{one.sentence[1:]}"


def _counts(judgement: Judgement) -> dict[str, int]:
    return {severity: sum(one.severity == severity for one in judgement.findings) for severity in SEVERITIES}


def as_json(judgements: Sequence[Judgement], fabric: FabricJudgement | None = None) -> str:
    """Return everything that was found as one document."""
    document: dict[str, object] = {"format": FORMAT, "files": [as_document(each) for each in judgements]}
    if fabric is not None:
        document["fabric"] = {"judged": fabric.was_judged, "sentence": fabric.sentence}
    return json.dumps(document, indent=2) + "\n"


def as_document(judgement: Judgement) -> dict[str, object]:
    """Return what was found in a file as JSON has it."""
    return {
        "file": judgement.file,
        "ports": judgement.ports,
        "chip": judgement.chip,
        "counts": _counts(judgement),
        "skipped": judgement.skipped,
        "more": judgement.more,
        "findings": [_finding(one) for one in judgement.findings],
        "not_judged": [_not_judged(one) for one in judgement.not_emulated],
    }


def _not_judged(one: NotEmulated) -> dict[str, object]:
    table, key, field = (*one.path, None, None, None)[:3]
    return {
        "line": one.place.line,
        "table": table,
        "key": key,
        "field": field,
        "value": one.value,
        "touches": one.touches,
        "why": one.why,
        "ports": list(one.ports),
    }


def _finding(one: SonicFinding) -> dict[str, object]:
    table, key, field = (*one.path, None, None, None)[:3]
    return {
        "rule": one.rule,
        "severity": one.severity,
        "line": one.line,
        "table": table,
        "key": key,
        "field": field,
        "value": one.value,
        "bound": one.bound,
        "consequence": one.consequence,
        "remedy": one.remedy,
        "ports": list(one.ports),
    }


def junit_cases(
    judgements: Sequence[Judgement],
    rules: Sequence[Rule],
    failing: Collection[str],
    fabric: FabricJudgement | None = None,
) -> list[JunitCase]:
    """Return a case for each rule of each file, for each thing that was found, and a skipped one for each thing that
    was not judged."""
    asked = [rule for rule in rules if fabric is not None or rule.name not in FABRIC_RULES]
    alone = "" if fabric is None or fabric.was_judged else fabric.sentence
    cases = [case for each in judgements for rule in asked for case in _cases(each, rule, failing, alone)]
    return [*cases, *(_skipped(each.file, one) for each in judgements for one in each.not_emulated)]


def _skipped(file: str, one: NotEmulated) -> JunitCase:
    why = f"{file}:{one.place.line or 0}: it acts in the switch and is not emulated: {one.why}"
    return JunitCase(file, _plain(f"not judged: {one.where}{_bound(one)}"), skipped=_plain(why))


def _cases(judgement: Judgement, rule: Rule, failing: Collection[str], alone: str) -> Iterator[JunitCase]:
    found = [one for one in judgement.findings if one.rule == rule.name]
    for one in found:
        said = f"{judgement.file}:{one.line or 0}: {one.sentence}"
        yield JunitCase(
            judgement.file, _plain(f"{rule.name}: {one.where}"), _plain(said) if one.severity in failing else None
        )
    if not found:
        waits = judgement.skipped if rule.name in SWITCH_RULES else alone if rule.name in FABRIC_RULES else ""
        yield JunitCase(judgement.file, rule.name, skipped=waits or None)


def rules_text(rules: Sequence[Rule]) -> str:
    """Return the rules as a table, the worst first: name, what is asked, the source."""
    width = max(len(rule.name) for rule in rules)
    lines = []
    for severity, alike in groupby(
        sorted(rules, key=lambda rule: SEVERITIES.index(rule.severity)), key=lambda rule: rule.severity
    ):
        lines += [f"{severity}s", *(f"  {rule.name:{width}}  {rule.asks} ({rule.source})" for rule in alike)]
    return "".join(f"{line}\n" for line in lines)
