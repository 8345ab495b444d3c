"""SONiC's `config_db.json`: read strictly, typed, and turned into a lab."""

from fabriclab.lab.sonic.config_db import ConfigDb
from fabriclab.lab.sonic.lab import ImportedLab, import_lab
from fabriclab.lab.sonic.read import parse_config_db, read_config_db

__all__ = ["ConfigDb", "ImportedLab", "import_lab", "parse_config_db", "read_config_db"]
