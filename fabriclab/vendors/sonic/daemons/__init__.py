"""SONiC's own daemons on this machine: a configuration is given to orchagent, and what it makes of it is read."""

from fabriclab.vendors.sonic.daemons.run import NEEDED, DaemonsError, asic_db_of

__all__ = ["NEEDED", "DaemonsError", "asic_db_of"]
