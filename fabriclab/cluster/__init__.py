"""Sweeps on the machines of a cluster, which Dask connects (docs/cluster.md).

The sweep hands the points out itself, each to a worker that has proved itself, and knows at any time which worker has
which: `dispatch`. Dask starts the workers, carries messages and files, and says which workers are there.
"""

from fabriclab.cluster.places import LOCAL, Place, parse_place
from fabriclab.cluster.sweeping import run_sweep_on
from fabriclab.runs.point import Keep

__all__ = ["LOCAL", "Keep", "Place", "parse_place", "run_sweep_on"]
