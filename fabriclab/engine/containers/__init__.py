"""The `containerlab` engine: nodes are Docker containers that Containerlab deploys, in real time."""

from fabriclab.engine.containers.container_lab import ContainerLab
from fabriclab.engine.containers.engine import Stay, run_containers

__all__ = ["ContainerLab", "Stay", "run_containers"]
