"""fabriclab: a testbed for congestion in data-centre networks, with real Linux TCP in virtual time."""

__version__ = "0.2.0"
