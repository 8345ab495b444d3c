"""What `fabriclab sonic import` does with several files: a lab of all switches, tried before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabriclab.cli.host.failure import say
from fabriclab.files import write_files
from fabriclab.formats.plan import Plan
from fabriclab.lab.network import topology
from fabriclab.resolve.unreached import Forwarding
from fabriclab.vendors.common.imported_lab import name_of, tried_plan
from fabriclab.vendors.sonic.commands.files import check_name, findings, parse_cell
from fabriclab.vendors.sonic.lab import ImportedFabric, import_fabric
from fabriclab.vendors.sonic.lab.cabling import read_cabling
from fabriclab.vendors.sonic.lab.fabric_stubs import Missing
from fabriclab.vendors.sonic.read.source_text import file_in, files_of_chips, files_of_switches

DEFAULT_NAME = "fabric"


def given(paths: Sequence[Path]) -> list[Path]:
    """Return the configurations that files and directories stand for. Raises LabError for a directory without one, and
    for one with the files of a switch's chips."""
    return [one for path in paths for one in (_given_in(path) if path.is_dir() else (path,))]


def _given_in(directory: Path) -> tuple[Path, ...]:
    return (file_in(directory),) if files_of_chips(directory) else files_of_switches(directory)


def import_lab(
    files: Sequence[Path],
    name: str | None,
    out: Path | None,
    cell: str | None,
    missing: Missing,
    cables: Sequence[Path],
    force: bool,
) -> None:
    """Write the lab of several config_db.json; say what is in it, and what `fabriclab check`
    finds wrong or doubtful."""
    directory = out or Path(name or DEFAULT_NAME)
    fabric = import_fabric(files, _lab_name(name, directory), parse_cell(cell), missing, read_cabling(cables))
    plan = tried_plan(fabric.files, fabric.sources, directory)
    incast = _reached_incast(plan)
    if incast is not None:
        fabric = fabric.with_incast(*incast)
        plan = tried_plan(fabric.files, fabric.sources, directory)
    write_files({directory / file: data for file, data in fabric.files.items()}, force=force)
    for line in _summary(fabric, directory):
        say(line)
    for warning in plan.warnings:
        say(f"warning: {warning}")


def _lab_name(name: str | None, directory: Path) -> str:
    check_name(name)
    return name or name_of(directory) or DEFAULT_NAME


def _reached_incast(plan: Plan) -> tuple[str, list[str]] | None:
    """Return the host that most others reach by BGP's routes, and those; None where all reach the first, or none any.

    bgpcfgd announces a switch's loopback and its VLANs, so hosts behind routed ports may be reached by nobody.
    """
    if plan.bgp is None:
        return None
    forwarding, hosts = (
        Forwarding(plan.nodes, plan.families[0]),
        [node.name for node in plan.nodes if node.role == "host"],
    )
    reaching = {
        receiver: [host for host in hosts if host != receiver and forwarding.reaches(host, receiver)]
        for receiver in hosts
    }
    receiver = max(hosts, key=lambda host: len(reaching[host]))
    if len(reaching[hosts[0]]) == len(hosts) - 1 or not reaching[receiver]:
        return None
    return receiver, reaching[receiver]


def _summary(fabric: ImportedFabric, directory: Path) -> Iterator[str]:
    hosts = sum(stub.role == "host" for stub in fabric.stubs)
    switches = [stub for stub in fabric.stubs if stub.role == "switch"]
    yield f"{directory}: {len(fabric.switches)} switches, {len(fabric.links)} links between them, {hosts} hosts"
    ways = Counter(link.found_by.partition(" ")[0] for link in fabric.links)
    if ways:
        yield (
            f"  links found by {', '.join(f'{way} ({count})' for way, count in ways.items())}; {topology.FILE_NAME} "
            "says it for each link"
        )
    for stub in switches:
        yield f"  {stub.name}: an FRR switch{' with a host' if stub.has_host else ''}, because no file describes it"
    yield from findings(fabric.notes, fabric.left_out)
