"""The groups of commands in `fabriclab --help`, in their order. docs/commands.md has the same groups."""

from __future__ import annotations

RUN = "Run and look"
MAKE = "Make and bring"
CHECK = "Check"
LIVE = "Live"
SHARE = "Share"
PANELS = {
    RUN: ("run", "sweep", "report", "compare", "plan", "trace", "graph", "labs", "studies", "doctor"),
    MAKE: ("new", "generate", "import", "sonic", "arista", "frr", "convert", "schema"),
    CHECK: ("check", "validate", "bench", "calibrate", "trust"),
    LIVE: (
        *(
            "up",
            "down",
            "ps",
            "ui",
            "pause",
            "resume",
            "step",
            "speed",
            "break",
            "inspect",
            "capture",
            "story",
            "gnmi",
            "ssh",
        ),
        *("set", "link", "node", "start", "stop", "flow", "exec", "shell", "vtysh", "cp", "forward"),
        *("replay", "save-lab"),
    ),
    SHARE: ("export", "bundle", "open", "figures"),
}
_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
_ORDER = {name: place for place, name in enumerate(_PANEL_OF)}


def panel_of(command: str) -> str:
    """Return the group of a command. A vendor's commands that the table does not name bring configurations."""
    return _PANEL_OF.get(command, MAKE)


def in_order(commands: list[str]) -> list[str]:
    """Return the commands in the order of `--help`; those that the table does not name come last."""
    return sorted(commands, key=lambda name: _ORDER.get(name, len(_ORDER)))
