"""The drawing of a topology: tiers from top to bottom, hosts at the bottom, as SVG text.

Knows nodes and links, no lab and no plan.
"""

from fabriclab.picture.network import Edge, Network, Vertex
from fabriclab.picture.svg import network_svg

__all__ = ["Edge", "Network", "Vertex", "network_svg"]
