"""`fabriclab export`, `fabriclab bundle`, `fabriclab open`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fabriclab.api.bundles import Bundle, Reproduced, reproduce
from fabriclab.api.bundles import bundle as pack
from fabriclab.api.bundles import open_bundle as unpack
from fabriclab.api.consent import notebooks_in
from fabriclab.api.exporting import Format
from fabriclab.api.exporting import export as export_tables
from fabriclab.api.failures import RunFailed
from fabriclab.cli.arguments.runs import refuse_no_run
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, INTERRUPTED, OK, say
from fabriclab.cli.host.followed import FollowedRuns
from fabriclab.cli.host.waiting import waiting
from fabriclab.units import format_count, format_size


def export(run: Path, out: Path | None, form: Format, tables: Sequence[str], force: bool) -> None:
    """Write the tables and say which files they are."""
    refuse_no_run(run)
    with waiting("writing the tables"):
        files = export_tables(run, out or Path(f"{run.resolve().name}-tables"), form=form, tables=tables, force=force)
    for file in files:
        print(f"{file}  {format_size(file.stat().st_size, 3)}")


def bundle(run: Path, out: Path | None, force: bool) -> None:
    """Pack, and say where it is."""
    refuse_no_run(run)
    with waiting("packing"):
        file = pack(run, out, force=force)
    print(f"bundle: {file}  {format_size(file.stat().st_size, 3)}")


def open_bundle(file: Path, out: Path | None, again: bool, stall_s: float, trust: bool = False) -> int:
    """Unpack, say what is in it, run it again if that is wanted; returns the exit status."""
    with waiting("unpacking"):
        opened = unpack(file, out)
    _tell(opened)
    return _reproduce(opened, stall_s, trust) if again else OK


def _tell(opened: Bundle) -> None:
    about = opened.about
    print(f"{about.title}: {about.kind} of the lab {about.lab}, {format_count(about.runs, 'run')}")
    print(f"packed by fabriclab {about.made_by}; engine {about.engine}")
    for name, value in about.made_with.items():
        print(f"  {name}: {value}")
    print(f"unpacked: {opened.content.directory}")
    print(f"look at it: fabriclab report {opened.content.directory}")
    for notebook in notebooks_in(opened.directory):
        print(f"note: {notebook}")


def _reproduce(opened: Bundle, stall_s: float, trust: bool) -> int:
    # It is unpacked by now, so that one can look at what it asks for: the directory takes the bundle's place.
    again = ("open", str(opened.directory), "--reproduce")
    found, followed = with_consent(lambda trusted: _run_again(opened, stall_s, trusted), trust, again)
    console = Console()
    for each in found:
        _show(console, each)
    if len(found) < opened.about.runs:
        last = followed.ended[-1]
        say(f"{last.status}: {last.message or 'not all runs were made'}")
        return INTERRUPTED if last.status == "interrupted" else FAILED
    agree = sum(each.agrees for each in found)
    console.print(f"the bits agree in {agree} of {format_count(len(found), 'run')}", highlight=False)
    return OK if agree == len(found) else FAILED


def _run_again(opened: Bundle, stall_s: float, trust: bool) -> tuple[Sequence[Reproduced], FollowedRuns]:
    found: Sequence[Reproduced] = ()
    with FollowedRuns("reading the bundle", "vm") as followed, suppress(RunFailed):
        found = reproduce(opened, stall_s=stall_s, trust=trust, progress=followed.show, cancel=followed.interrupt)
    return found, followed


def _show(console: Console, each: Reproduced) -> None:
    same = [table.name for table in each.tables if table.is_same]
    verdict = "[green]the same bits[/]" if each.agrees else "[red]other bits[/]"
    console.print(f"{each.point}: {verdict} ({', '.join(same)})", highlight=False)
    for table in each.tables:
        if not table.is_same:
            console.print(f"  {table.name}: {table.told}", highlight=False, markup=False)
    for told in each.made_otherwise:
        console.print(f"  made differently: {told}", highlight=False, markup=False)
