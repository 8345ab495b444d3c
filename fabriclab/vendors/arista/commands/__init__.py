"""`fabriclab arista`: all its commands."""

from fabriclab.vendors.arista.commands.options import app

__all__ = ["app"]
