"""The QoS part of an Arista EOS configuration: read, and turned into a switch profile."""

from fabriclab.vendors.arista.profile.chip import Chip, ChipError, read_chip
from fabriclab.vendors.arista.profile.config_text import is_eos, parse_config_text
from fabriclab.vendors.arista.profile.imported import ImportedQos, import_qos
from fabriclab.vendors.common.command_text import LARGEST_BYTES

__all__ = [
    "LARGEST_BYTES",
    "Chip",
    "ChipError",
    "ImportedQos",
    "import_qos",
    "is_eos",
    "parse_config_text",
    "read_chip",
]
