"""Reading FRR's configurations."""

from fabriclab.vendors.frr.read.read import read_daemons_files, read_frr

__all__ = ["read_daemons_files", "read_frr"]
