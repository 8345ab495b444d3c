"""Bounds of traffic, each with its reason."""

from __future__ import annotations

WHY_FOUR_BYTES = "the first four bytes carry the flow's number"
LARGEST_FLOW_BYTES = 2**40
MOST_REPEATS = 10**6
MOST_FLOWS = 10**7
"""The most flows of one experiment: their log is then about a gigabyte."""
LONGEST_NS = 24 * 3600 * 10**9
"""A day of virtual time."""
