"""What `fabriclab import mininet` does: with consent the script runs, and its network becomes a Containerlab file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.consent.gate import require
from fabriclab.consent.request import ConsentRequest, Item, Subject
from fabriclab.engine.mininet import MininetError, describe
from fabriclab.files import write_files
from fabriclab.formats.names import NODE_NAME
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab.reading.files import UnreadableError, read_named_file
from fabriclab.vendors.common.imported_lab import name_of
from fabriclab.vendors.mininet.lab import lab_of
from fabriclab.vendors.mininet.lab.network import read_network

STAND_IN = Path(__file__).parents[1] / "script" / "stand_in.py"
_LARGEST_BYTES = 1 << 20
_ROLE = "Python, which runs with your rights and not in any node"


def import_lab(script: Path, topo: str | None, name: str | None, out: Path | None, *, force: bool, trust: bool) -> None:
    """Write the Containerlab file of a script; say what is in it, and what is left out."""
    name = name or name_of(script.with_suffix(""))
    if not NODE_NAME.is_in(name):
        raise BadInputError(f"--name {name!r}: is not a name; write letters, digits, '-' and '_', at most 63")
    try:
        text = read_named_file(script, _LARGEST_BYTES)
    except UnreadableError as error:
        raise BadInputError(f"{script}: {error}") from None
    found = _described(script, text, topo, trust)
    network = read_network(found, str(script))
    imported = lab_of(network, name, script.name)
    file = out or Path(f"{name}.clab.yml")
    write_files({file: imported.text.encode()}, force=force)
    hosts = sum(not node.is_switch for node in network.nodes.values())
    say(f"{file}: {hosts} hosts, {len(network.nodes) - hosts} switches, {len(network.links)} links")
    notes = [*imported.notes, *([f"the script failed after that: {found['failed']}"] if found["failed"] else [])]
    if notes:
        say("to know:")
    for note in notes:
        say(f"  {note}")


def _described(script: Path, text: bytes, topo: str | None, trust: bool) -> dict[str, Any]:
    sha256 = hashlib.sha256(text).hexdigest()
    item = Item(script.name, _ROLE, text.count(b"\n"), sha256)
    request = ConsentRequest(str(script), Subject("code", sha256), (item,))

    def call(given: bool) -> dict[str, Any]:
        require(request, given)
        return describe(STAND_IN, script, topo)

    try:
        found = with_consent(call, trust)
    except MininetError as error:
        raise BadInputError(str(error)) from None
    if found["nodes"] is None:
        raise BadInputError(f"{script}: {_none_of(found, topo)}")
    return found


def _none_of(found: dict[str, Any], topo: str | None) -> str:
    """Say why there is no network."""
    choices = found["choices"]
    if topo is not None and choices:
        return f"--topo {topo}: there is no such topology; {did_you_mean(topo, choices)}"
    if found["failed"]:
        return f"no network was described before it failed: {found['failed']}"
    if choices:
        return f"it has {len(choices)} topologies; choose one: {' '.join(f'--topo {one}' for one in choices)}"
    return "it describes no network: neither `topos`, nor a class of Topo, nor Mininet(...)"
