"""Which FRR a switch runs: `switches.NAME.frr`, its key and its reader."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.keys.mappings import Key
from fabriclab.keys.values import Text
from fabriclab.keys.wording import listed, shown
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section
from fabriclab.lab.setup.frr_versions import VERSION, built_frr, how_to_bring, is_version, version_here

_SWITCHES = "switches"
FRR_VERSION = Key(
    "frr",
    Text("a version of FRR, such as 10.5 or 10.5.1"),
    "The version of FRR that the switch runs: the virtual machine's, or one that `fabriclab frr add` built here.",
    unset="the version that the image's tag or the configuration names, if it is here, else the virtual machine's",
    examples=(VERSION, "10.5.1"),
)


def read_frr_versions(root: Section, names: Names) -> Mapping[str, str | None]:
    """Return the version of each switch of which one is written, None for the virtual machine's; one that is not here
    is recorded."""
    switches = root.section(_SWITCHES, None)
    found: dict[str, str | None] = {}
    for layer in ("default", *names.switches) if switches is not None else ():
        if switches is None or not isinstance(switches.get(layer), type(switches.mapping)):
            continue
        section = switches.section(layer, None)
        written = None if section is None else section.read(FRR_VERSION)
        if written is None:
            continue
        here = version_here(written.value)
        if here is None:
            valid = listed((VERSION, *built_frr()))
            bring = f"; {how_to_bring(written.value)}" if is_version(written.value) else ""
            written.complain(root.problems, f"FRR {shown(written.value)} is not here, only {valid}{bring}")
        for name in names.switches if layer == "default" else (layer,):
            found[name] = None if here == VERSION else here
    return found
