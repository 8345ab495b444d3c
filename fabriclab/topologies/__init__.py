"""Generators of topologies: each writes an ordinary Containerlab file, which a person could have written and
may change afterwards."""

from fabriclab.topologies.clos import fat_tree, leaf_spine
from fabriclab.topologies.fabric import Fabric, FabricError
from fabriclab.topologies.ipv6 import with_ipv6
from fabriclab.topologies.oversubscription import parse_ratio
from fabriclab.topologies.small import dumbbell, star
from fabriclab.topologies.write import experiment_text, topology_text

__all__ = [
    "Fabric",
    "FabricError",
    "dumbbell",
    "experiment_text",
    "fat_tree",
    "leaf_spine",
    "parse_ratio",
    "star",
    "topology_text",
    "with_ipv6",
]
