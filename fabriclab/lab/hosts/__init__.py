"""Hosts as written: TCP, MPTCP, socket buffers, the queue of their own ports."""
