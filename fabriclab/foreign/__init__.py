"""Other people's Containerlab files as labs: FRR in the place of vendors' switches, everything written out."""

from fabriclab.foreign.frr_lab import FrrLab, frr_lab

__all__ = ["FrrLab", "frr_lab"]
