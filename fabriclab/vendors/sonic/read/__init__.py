"""Reading SONiC's `config_db.json`: strictly, and typed."""

from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.read import examine_config_db, parse_config_db, read_bytes, read_config_db

__all__ = ["ConfigDb", "examine_config_db", "parse_config_db", "read_bytes", "read_config_db"]
