"""From the network that a script describes to a Containerlab file."""

from fabriclab.vendors.mininet.lab.files import Imported, lab_of

__all__ = ["Imported", "lab_of"]
