"""Hadoop as an application: what its clusters' nodes are given, and what it says of its jobs.

`fabriclab.registry.applications` loads it for a plan with traffic of `kind: hadoop`.
"""
