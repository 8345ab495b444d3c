"""The groups of commands that vendors' folders bring: `fabriclab import VENDOR`, and `fabriclab VENDOR ...`."""

from __future__ import annotations

import typer

from fabriclab.registry.vendors import VENDORS

_importing = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Import configurations of switches and routers as a lab or a switch profile.",
)
for _vendor in (vendor for vendor in VENDORS if vendor.has_import):
    _importing.command(_vendor.folder)(_vendor.load("commands").import_)
GROUPS: dict[str, typer.Typer] = {"import": _importing} | {
    vendor.folder: vendor.load("commands").app for vendor in VENDORS if vendor.has_group
}
"""By their names, in the order of `fabriclab --help`."""
