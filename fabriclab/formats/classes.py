"""How many queues, priority groups, priorities and traffic classes a port has."""

QUEUES = 8
"""The priorities of IEEE 802.1Q, clause 6.9; SAI's unicast queues and priority groups."""
