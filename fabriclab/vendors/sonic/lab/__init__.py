"""A lab of one `config_db.json`, or of all those of a fabric."""

from fabriclab.vendors.sonic.lab.fabric import ImportedFabric, import_fabric
from fabriclab.vendors.sonic.lab.one_switch import ImportedLab, import_lab

__all__ = ["ImportedFabric", "ImportedLab", "import_fabric", "import_lab"]
