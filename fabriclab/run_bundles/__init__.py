"""Runs and sweeps as one file: how it is packed and opened, and whether a run of it again has the same bits."""
