"""A lab of the routers of a network."""

from fabriclab.vendors.frr.lab.network import ImportedNetwork, import_network

__all__ = ["ImportedNetwork", "import_network"]
