"""`fabriclab sonic`: all its commands."""

from fabriclab.vendors.sonic.commands.check_options import check
from fabriclab.vendors.sonic.commands.diff_options import diff
from fabriclab.vendors.sonic.commands.options import app, import_
from fabriclab.vendors.sonic.commands.oracle_options import oracle
from fabriclab.vendors.sonic.commands.reach_options import reach

app.command("check")(check)
app.command("diff")(diff)
app.command("oracle")(oracle)
app.command("reach")(reach)

__all__ = ["app", "import_"]
