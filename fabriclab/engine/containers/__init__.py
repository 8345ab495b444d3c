"""The `containerlab` engine: nodes are Docker containers that Containerlab deploys, in real time. What runs it lies in
`engine`, which is loaded where it does."""

from fabriclab.engine.containers.container_lab import ContainerLab, Stay

__all__ = ["ContainerLab", "Stay"]
