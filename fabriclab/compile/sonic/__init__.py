"""From a plan to SONiC's `config_db.json`, and to the form in which SONiC's YANG models check it."""

from fabriclab.compile.sonic.export import Exported, export_switch
from fabriclab.compile.sonic.yang import YangData, yang_data

__all__ = ["Exported", "YangData", "export_switch", "yang_data"]
