"""Real orchagent beside our reading: what it made of a config_db.json in ASIC_DB, object by object."""

from fabriclab.vendors.sonic.oracle.asic_db import read_asic_db
from fabriclab.vendors.sonic.oracle.compare import Comparison, Difference, compared

__all__ = ["Comparison", "Difference", "compared", "read_asic_db"]
