"""Engines: how nodes and links come to be and how the files of a run directory are executed in them.

Only this package starts processes.
"""
