"""`fabriclab import frr`."""

from fabriclab.vendors.frr.commands.options import import_

__all__ = ["import_"]
