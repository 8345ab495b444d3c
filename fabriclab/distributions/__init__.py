"""Distributions of flow sizes: those of `traffic/workloads`, and those that users bring as text files."""

from fabriclab.distributions.builtin import builtin, names
from fabriclab.distributions.distribution import Distribution, Interpolation, Points, mean_bytes
from fabriclab.distributions.formats import DistributionError, read

__all__ = [
    "Distribution",
    "DistributionError",
    "Interpolation",
    "Points",
    "builtin",
    "mean_bytes",
    "names",
    "read",
]
