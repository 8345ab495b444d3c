"""SONiC's `config_db.json`: read strictly, typed, and turned into a lab, one file or all of a fabric."""

from fabriclab.lab.sonic.config_db import ConfigDb
from fabriclab.lab.sonic.fabric import ImportedFabric, import_fabric
from fabriclab.lab.sonic.lab import ImportedLab, import_lab
from fabriclab.lab.sonic.read import examine_config_db, parse_config_db, read_bytes, read_config_db

__all__ = [
    "ConfigDb",
    "ImportedFabric",
    "ImportedLab",
    "examine_config_db",
    "import_fabric",
    "import_lab",
    "parse_config_db",
    "read_bytes",
    "read_config_db",
]
