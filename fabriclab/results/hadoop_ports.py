"""The ports of Hadoop's servers, and what is sent over them.

Sources: core-default.xml, hdfs-default.xml, yarn-default.xml and mapred-default.xml of Hadoop 3.4.
"""

from __future__ import annotations

from fabriclab.formats.plan.traffic import HadoopTraffic

SHUFFLE_PORT = 13562
SHUFFLE, BLOCKS, RPC = "shuffle", "blocks", "rpc"
_PORTS = {
    "mapreduce.shuffle.port": (SHUFFLE, SHUFFLE_PORT),
    "dfs.datanode.address": (BLOCKS, 9866),
    "dfs.namenode.rpc-address": (RPC, 8020),
    "dfs.datanode.ipc.address": (RPC, 9867),
    "yarn.resourcemanager.scheduler.address": (RPC, 8030),
    "yarn.resourcemanager.resource-tracker.address": (RPC, 8031),
    "yarn.resourcemanager.address": (RPC, 8032),
    "yarn.resourcemanager.admin.address": (RPC, 8033),
    "yarn.nodemanager.localizer.address": (RPC, 8040),
    "mapreduce.jobhistory.address": (RPC, 10020),
}
"""By the setting that says otherwise."""


def ports_of(cluster: HadoopTraffic) -> dict[int, str]:
    """Return what a cluster's ports are for: the shuffle, blocks of HDFS, or RPC. Other servers of Hadoop's (of
    application masters, of node managers) have any port."""
    settings = dict(cluster.settings)
    found = {}
    for setting, (what, usual) in _PORTS.items():
        port = settings.get(setting, "").rpartition(":")[2].strip()
        found[int(port) if port.isdigit() else usual] = what
    return found
