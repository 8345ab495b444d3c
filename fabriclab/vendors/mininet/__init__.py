"""Mininet: the network of a script of its own, made a Containerlab file."""
