"""The ports of Hadoop's servers, and what is sent over them.

Sources: core-default.xml, hdfs-default.xml, yarn-default.xml and mapred-default.xml of Hadoop 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping

SHUFFLE, BLOCKS, RPC = "shuffle", "blocks", "rpc"
SHUFFLE_PORT, DATA_PORT, NAMENODE_PORT, TRACKER_PORT, HISTORY_PORT = 13562, 9866, 8020, 8031, 10020
_PORTS = {
    "mapreduce.shuffle.port": (SHUFFLE, SHUFFLE_PORT),
    "dfs.datanode.address": (BLOCKS, DATA_PORT),
    "dfs.namenode.rpc-address": (RPC, NAMENODE_PORT),
    "dfs.datanode.ipc.address": (RPC, 9867),
    "yarn.resourcemanager.scheduler.address": (RPC, 8030),
    "yarn.resourcemanager.resource-tracker.address": (RPC, TRACKER_PORT),
    "yarn.resourcemanager.address": (RPC, 8032),
    "yarn.resourcemanager.admin.address": (RPC, 8033),
    "yarn.nodemanager.localizer.address": (RPC, 8040),
    "mapreduce.jobhistory.address": (RPC, HISTORY_PORT),
}
"""By the setting that says otherwise."""


def ports_of(settings: Mapping[str, str]) -> dict[int, str]:
    """Return what the ports of a cluster with these settings are for: the shuffle, blocks of HDFS, or RPC. Other
    servers of Hadoop's (of application masters, of node managers) have any port."""
    found = {}
    for setting, (what, usual) in _PORTS.items():
        port = settings.get(setting, "").rpartition(":")[2].strip()
        found[int(port) if port.isdigit() else usual] = what
    return found
