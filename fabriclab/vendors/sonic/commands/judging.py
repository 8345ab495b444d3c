"""What `fabriclab sonic check` does: judges files, and tells what was found as text, JSON or JUnit XML."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from fabriclab.cli.host.failure import FAILED, OK, BadInputError, say
from fabriclab.cli.text.junit import junit_xml, write_junit
from fabriclab.engine.yanglint import validate
from fabriclab.files import write_all
from fabriclab.keys.wording import did_you_mean
from fabriclab.units import UnitError, parse_size
from fabriclab.vendors.sonic.commands.baseline import compared, write_baseline
from fabriclab.vendors.sonic.commands.chip_option import parse_chip
from fabriclab.vendors.sonic.commands.diff import diff_json, diff_text, difference
from fabriclab.vendors.sonic.commands.files import check_yang_directory
from fabriclab.vendors.sonic.commands.findings_text import as_json, as_text, junit_cases, rules_text
from fabriclab.vendors.sonic.commands.sarif import as_sarif
from fabriclab.vendors.sonic.export import yang_data
from fabriclab.vendors.sonic.export.yang_qos import qos_tables
from fabriclab.vendors.sonic.fabric import FabricJudgement, judge_files
from fabriclab.vendors.sonic.judge import RULES, Judgement, SonicFinding, judge_config_db
from fabriclab.vendors.sonic.judge.check import with_more
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.lab.cabling import read_cabling
from fabriclab.vendors.sonic.read import read_bytes
from fabriclab.vendors.sonic.read.chips import Chip
from fabriclab.vendors.sonic.read.source_text import files_of_chips, files_of_switches
from fabriclab.vendors.sonic.read.table_effects import table_effects

_SUITE = "fabriclab sonic check"
_LARGEST_CELL = 65_536


@dataclass(frozen=True)
class Options:
    """The options of `fabriclab sonic check`."""

    fail_on: Literal["error", "warning"]
    output: Literal["text", "json", "junit", "sarif"]
    junit: Path | None
    sarif: Path | None
    baseline: Path | None
    write_baseline: Path | None
    diff: bool
    rules: tuple[str, ...]
    ignore: tuple[str, ...]
    cables: tuple[Path, ...]
    cell: str | None
    chip: str | None
    yang_directory: Path | None


def list_rules() -> None:
    """Print the rules of `fabriclab sonic check`, each with its severity and source."""
    sys.stdout.write(rules_text(tuple(RULES.values())))


def list_tables() -> None:
    """Print the tables of SONiC's YANG models, each with what it does in a lab, or why it does nothing there."""
    words = {"none": "no effect"}
    sys.stdout.write(
        "".join(f"{one.table:36} {words.get(one.effect, one.effect):10} {one.what}\n" for one in table_effects())
    )


def check(files: Sequence[Path], options: Options) -> int:
    """Judge files and tell what was found; returns the exit status: FAILED where something is as bad as --fail-on."""
    if not files:
        raise BadInputError("no file; give the config_db.json of a switch, or --list-rules")
    check_yang_directory(options.yang_directory)
    files = [one for file in files for one in _files_of(file)]
    if options.cables and (options.diff or not _may_be_fabric(files)):
        raise BadInputError("--cables: it needs the files of several switches, and no --diff")
    wanted = _wanted(options)
    cell_bytes, chip = _cell_bytes(options.cell), parse_chip(options.chip)
    judged = [_judge(file, cell_bytes, chip, options.yang_directory) for file in files]
    fabric = None if options.diff or not _may_be_fabric(files) else _together(judged, options.cables)
    judged = judged if fabric is None else [with_more(one, fabric.findings.get(one.file, ())) for one in judged]
    judgements = [_kept(one, wanted) for one in judged]
    failing = ("error", "warning") if options.fail_on == "warning" else ("error",)
    if options.write_baseline is not None:
        write_baseline(options.write_baseline, judgements)
    if options.diff:
        judgements = [_told_diff(files, judgements, chip, options)]
    else:
        judgements = _told(judgements, fabric, wanted, failing, options)
    return FAILED if any(one.severity in failing for each in judgements for one in each.findings) else OK


def _files_of(file: Path) -> tuple[Path, ...]:
    """Return the files that a file or a directory stands for: of a switch of several chips, one each."""
    return (files_of_chips(file) or files_of_switches(file)) if file.is_dir() else (file,)


def _may_be_fabric(files: Sequence[Path]) -> bool:
    """Return whether files are those of several switches, and not the chips of one."""
    return (
        len(files) > 1
        and len({file.resolve() for file in files}) == len(files)
        and not any(files_of_chips(file.parent) for file in files)
    )


def _together(judged: Sequence[Judgement], cables: Sequence[Path]) -> FabricJudgement:
    files, unsound = [Path(one.file) for one in judged], [one.file for one in judged if _is_malformed(one)]
    return judge_files(files, unsound, read_cabling(cables))


def _is_malformed(judgement: Judgement) -> bool:
    return any(one.rule == "malformed" and one.severity == "error" for one in judgement.findings)


def _told(
    judgements: list[Judgement],
    fabric: FabricJudgement | None,
    wanted: tuple[str, ...],
    failing: tuple[str, ...],
    options: Options,
) -> list[Judgement]:
    """Tell what was found, and return what counts for the exit status."""
    known = None if options.baseline is None else compared(options.baseline, judgements)
    judgements = judgements if known is None else list(known.judgements)
    cases = junit_cases(judgements, tuple(RULES[name] for name in wanted), failing, fabric)
    texts = {
        "text": lambda: as_text(judgements, fabric),
        "json": lambda: as_json(judgements, fabric),
        "junit": lambda: junit_xml(_SUITE, cases),
        "sarif": lambda: as_sarif(judgements),
    }
    sys.stdout.write(texts[options.output]())
    if options.junit is not None:
        write_junit(options.junit, _SUITE, cases)
    if options.sarif is not None:
        write_all({options.sarif: as_sarif(judgements)})
    if known is not None:
        say(f"{options.baseline}: {known.known} known finding{'' if known.known == 1 else 's'} not listed")
        for one in known.gone:
            say(f"  no longer there: {one}")
    return judgements


def _told_diff(files: Sequence[Path], judgements: list[Judgement], chip: Chip | None, options: Options) -> Judgement:
    if len(files) != 2:
        raise BadInputError(f"--diff: it compares two files, OLD and NEW; {len(files)} are given")
    if options.output not in ("text", "json") or options.baseline is not None:
        raise BadInputError(
            "--diff: it needs --format text or json, and no --baseline, because the old file has the known findings"
        )
    data = read_bytes(files[0]), read_bytes(files[1])
    one = difference((files[0], files[1]), data, judgements, chip)
    sys.stdout.write(diff_json(one) if options.output == "json" else diff_text(one))
    return one.new


def _wanted(options: Options) -> tuple[str, ...]:
    """Return the rules that are asked, in their order."""
    chosen, left_out = (_names(words) for words in (options.rules, options.ignore))
    wrong = [("--rules", name) for name in chosen if name not in RULES] + [
        ("--ignore", name) for name in left_out if name not in RULES
    ]
    if wrong:
        raise BadInputError(
            "\n".join(f"{option} {name!r}: no such rule; {did_you_mean(name, RULES)}" for option, name in wrong)
        )
    return tuple(name for name in RULES if (not chosen or name in chosen) and name not in left_out)


def _names(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def _cell_bytes(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        cell_bytes = parse_size(text)
    except UnitError as error:
        raise BadInputError(f"--cell: {error}") from error
    if not 1 <= cell_bytes <= _LARGEST_CELL:
        raise BadInputError(f"--cell {text!r} is out of range; write 1 B to {_LARGEST_CELL} B, such as '256 B'")
    return cell_bytes


def _judge(file: Path, cell_bytes: int | None, chip: Chip | None, yang_directory: Path | None) -> Judgement:
    data = read_bytes(file)
    judgement = judge_config_db(data, str(file), cell_bytes, chip)
    if yang_directory is None:
        return judgement
    return replace(judgement, findings=(*_yang(data, yang_directory), *judgement.findings))


def _yang(data: bytes, directory: Path) -> tuple[SonicFinding, ...]:
    """Return what the YANG models find in the tables of QoS and what these refer to."""
    tables, problems = qos_tables(data)
    yang = yang_data(tables)
    said = (*problems, *validate(yang.xml, yang.modules, directory)) if tables else problems
    return tuple(finding("yang", (), None, line, "SONiC refuses the file") for line in said)


def _kept(judgement: Judgement, wanted: tuple[str, ...]) -> Judgement:
    return replace(judgement, findings=tuple(one for one in judgement.findings if one.rule in wanted))
