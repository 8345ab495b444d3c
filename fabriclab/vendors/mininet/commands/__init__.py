"""`fabriclab import mininet`."""

from fabriclab.vendors.mininet.commands.options import import_

__all__ = ["import_"]
