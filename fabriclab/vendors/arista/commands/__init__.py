"""`fabriclab arista`: all its commands."""

from fabriclab.vendors.arista.commands.options import app, import_

__all__ = ["app", "import_"]
