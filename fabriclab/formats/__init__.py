"""What several layers must agree on: names, numbers and files that one of them writes and another reads.

Imports nothing.
"""
