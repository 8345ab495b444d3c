"""`fabriclab sonic`: all its commands."""

from fabriclab.vendors.sonic.commands.check_options import check
from fabriclab.vendors.sonic.commands.options import app

app.command("check")(check)

__all__ = ["app"]
