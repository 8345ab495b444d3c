"""Bounds of traffic, each with its reason."""

from __future__ import annotations

from fabriclab.formats import ranges

WHY_FOUR_BYTES = "the first four bytes carry the flow's number"
LARGEST_FLOW_BYTES = ranges.FLOW_BYTES.most
MOST_REPEATS = ranges.REPEATS.most
MOST_FLOWS = ranges.MOST_FLOWS
LONGEST_NS = ranges.DURATION.most
