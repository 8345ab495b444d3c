"""Generators of topologies: each writes an ordinary Containerlab file, which a person could have written and
may change afterwards."""

from fabriclab.generate.clos import fat_tree, leaf_spine
from fabriclab.generate.fabric import Fabric, FabricError
from fabriclab.generate.oversubscription import parse_ratio
from fabriclab.generate.small import dumbbell, star
from fabriclab.generate.starter import experiment_text
from fabriclab.generate.write import topology_text

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
]
