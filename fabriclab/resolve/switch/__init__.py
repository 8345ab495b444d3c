"""Switches with a shared buffer: their records, how they come of what was written, and what may be wrong with them."""
