"""Other people's Containerlab files as labs: as they are, or with FRR in the place of vendors' switches."""

from fabriclab.other_labs.frr_lab import FrrLab, frr_lab
from fabriclab.other_labs.own_lab import OwnLab, own_lab

__all__ = ["FrrLab", "OwnLab", "frr_lab", "own_lab"]
