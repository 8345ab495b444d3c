"""`fabriclab import`: a command for each vendor whose configurations are read."""

from __future__ import annotations

import typer

from fabriclab.vendors import VENDORS

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Configurations of switches and routers: into a lab, or a profile.",
)
for _vendor in VENDORS:
    app.command(_vendor.folder)(_vendor.load("commands").import_)
