"""From a plan to SONiC's `config_db.json`, and to the form in which SONiC's YANG models check it."""

from fabriclab.vendors.sonic.export.switch import Exported, export_switch
from fabriclab.vendors.sonic.export.yang import YangData, yang_data

__all__ = ["Exported", "YangData", "export_switch", "yang_data"]
