"""A switch port that has a queue of its own, as written: its buffer, its ECN threshold, its queue management."""
