"""What a lab publishes lies beside its two files: the names of the record and of the data (`fabriclab.gallery`)."""

from __future__ import annotations

FILE = "published.yml"
DIRECTORY = "published"
"""The data beside the README: MATRIX.csv, and `made-from.json`."""
