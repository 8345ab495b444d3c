"""Hadoop's configuration files (`/etc/hadoop`) of a cluster of `kind: hadoop`.

What is not written here is Hadoop's own default (core-default.xml and so on).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.hadoop.compile.costs import DAEMON_VARIABLES
from fabriclab.hadoop.compile.java import TASK_OPTIONS_FILE
from fabriclab.hadoop.compile.rpc import IDLE_KEY, LAB_S_IDLE_KEY
from fabriclab.hadoop.ports import HISTORY_PORT, NAMENODE_PORT

DATA = "/data"
"""A node's disk: HDFS's blocks, files of tasks. What the NameNode keeps lies elsewhere: it wants 100 MB to be free."""
CONTAINER_MB = 128
"""What YARN counts a container as, of any kind: `slots` of them are a node's."""
_FILES = {
    "dfs.": "hdfs-site.xml",
    "yarn.scheduler.capacity.": "capacity-scheduler.xml",
    "yarn.app.mapreduce.": "mapred-site.xml",
    "yarn.": "yarn-site.xml",
    "mapreduce.": "mapred-site.xml",
    "tez.": "tez-site.xml",
}
"""Which file has a property, by the beginning of its name, the first that fits; else it is core-site.xml."""
_OTHERS = "core-site.xml"
_LOGGING = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.hdfs.server.datanode.DataNode.clienttrace=DEBUG
"""
_FEW = (
    *("dfs.namenode.handler.count", "dfs.datanode.handler.count", "yarn.resourcemanager.client.thread-count"),
    *(
        "yarn.resourcemanager.scheduler.client.thread-count",
        "yarn.resourcemanager.resource-tracker.client.thread-count",
    ),
    *("yarn.resourcemanager.amlauncher.thread-count", "yarn.nodemanager.container-manager.thread-count"),
    *("yarn.nodemanager.localizer.client.thread-count", "yarn.nodemanager.collector-service.thread-count"),
    *("yarn.nodemanager.localizer.fetch.thread-count", "yarn.app.mapreduce.am.job.task.listener.thread-count"),
)
"""Threads that wait for requests: each is made at the start, and costs a stack."""


def configuration_files(cluster: HadoopTraffic) -> dict[str, str]:
    """Return the texts of the files of `/etc/hadoop` by their names."""
    files: dict[str, dict[str, str]] = {name: {} for name in (_OTHERS, *_FILES.values())}
    settings = dict(cluster.settings)
    # The class that reads it is changed (`hadoop_rpc`).
    idle = {LAB_S_IDLE_KEY: settings[IDLE_KEY]} if IDLE_KEY in settings else {}
    for name, value in {**_settings(cluster), **settings, **idle}.items():
        place = next((file for prefix, file in _FILES.items() if name.startswith(prefix)), _OTHERS)
        files[place][name] = value
    return {**{name: _xml(properties) for name, properties in files.items()}, "log4j.properties": _LOGGING}


def _xml(properties: Mapping[str, str]) -> str:
    lines = (
        f"  <property><name>{escape(name, quote=False)}</name><value>{escape(value, quote=False)}</value></property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{"".join(lines)}</configuration>\n'


def _settings(cluster: HadoopTraffic) -> dict[str, str]:
    return {
        **dict(_hdfs(cluster)),
        **dict(_yarn(cluster)),
        **dict(_mapreduce(cluster)),
        **dict(_tez() if cluster.tez_version is not None else ()),
        **dict.fromkeys(_FEW, "3"),
    }


def _hdfs(cluster: HadoopTraffic) -> Iterator[tuple[str, str]]:
    yield "fs.defaultFS", f"hdfs://{cluster.namenode}:{NAMENODE_PORT}"
    yield "hadoop.tmp.dir", "/tmp/hadoop"
    # No program is started to ask who the user's groups are, or how full a disk is.
    yield "hadoop.user.group.static.mapping.overrides", "root=root"
    yield "fs.getspaceused.classname", "org.apache.hadoop.fs.DFCachingGetSpaceUsed"
    yield "dfs.replication", str(cluster.replication)
    yield "dfs.blocksize", str(cluster.block_bytes)
    yield "dfs.namenode.fs-limits.min-block-size", "0"
    yield "dfs.namenode.name.dir", "/name"
    yield "dfs.datanode.data.dir", f"{DATA}/blocks"
    # HDFS is written to as soon as all data nodes are there, so that they share what is written.
    yield "dfs.namenode.safemode.extension", "0"
    yield "dfs.namenode.safemode.min.datanodes", str(len(cluster.data_nodes))
    if cluster.disk_bytes is not None:
        # A data node leaves a gigabyte of its disk free otherwise, which is more than a small one has.
        yield "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space", "0"
    # Nodes have no reverse names.
    yield "dfs.namenode.datanode.registration.ip-hostname-check", "false"
    yield "dfs.permissions.enabled", "false"


def _yarn(cluster: HadoopTraffic) -> Iterator[tuple[str, str]]:
    node_mb = str(cluster.slots * CONTAINER_MB)
    yield "yarn.resourcemanager.hostname", cluster.resourcemanager
    yield "yarn.nodemanager.aux-services", "mapreduce_shuffle"
    yield "yarn.nodemanager.resource.memory-mb", node_mb
    yield "yarn.nodemanager.resource.cpu-vcores", str(cluster.slots)
    yield "yarn.scheduler.minimum-allocation-mb", str(CONTAINER_MB)
    yield "yarn.scheduler.maximum-allocation-mb", node_mb
    yield "yarn.nodemanager.vmem-check-enabled", "false"
    yield "yarn.nodemanager.pmem-check-enabled", "false"
    yield "yarn.nodemanager.disk-health-checker.enable", "false"
    yield "yarn.nodemanager.local-dirs", f"{DATA}/yarn"
    yield "yarn.nodemanager.log-dirs", f"/job/logs/{cluster.name}"
    yield "yarn.nodemanager.log-container-debug-info.enabled", "false"
    # What containers find in their environment of what the node manager has in its own.
    yield "yarn.nodemanager.env-whitelist", ",".join(("JAVA_HOME", "HADOOP_CONF_DIR", *DAEMON_VARIABLES))
    yield "yarn.scheduler.capacity.root.queues", "default"
    yield "yarn.scheduler.capacity.root.default.capacity", "100"
    yield "yarn.scheduler.capacity.maximum-am-resource-percent", "1"


def _mapreduce(cluster: HadoopTraffic) -> Iterator[tuple[str, str]]:
    yield "mapreduce.framework.name", "yarn"
    # Class paths are those of the option files; Hadoop's own would say the same once more.
    yield "mapreduce.application.classpath", "/etc/hadoop"
    yield "yarn.application.classpath", "/etc/hadoop"
    yield "mapreduce.map.memory.mb", str(CONTAINER_MB)
    yield "mapreduce.reduce.memory.mb", str(CONTAINER_MB)
    yield "yarn.app.mapreduce.am.resource.mb", str(CONTAINER_MB)
    yield "mapreduce.task.io.sort.mb", "16"
    for what in ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts", "yarn.app.mapreduce.am.command-opts"):
        yield what, f"@{TASK_OPTIONS_FILE}"
    yield "yarn.app.mapreduce.am.staging-dir", "/staging"
    yield "mapreduce.jobhistory.jhist.format", "json"
    yield "mapreduce.jobhistory.address", f"{cluster.namenode}:{HISTORY_PORT}"
    # A task is slow here because of the network, which is what is looked at.
    yield "mapreduce.map.speculative", "false"
    yield "mapreduce.reduce.speculative", "false"


def _tez() -> Iterator[tuple[str, str]]:
    # Its archives lie on all nodes, and are not loaded out of HDFS.
    yield "tez.ignore.lib.uris", "true"
    yield "tez.runtime.io.sort.mb", "16"
    # It ends, and closes its history, before the cluster does; 5 s otherwise, in which clients may ask.
    yield "tez.am.sleep.time.before.exit.millis", "500"
    for what in ("am", "task"):
        yield f"tez.{what}.resource.memory.mb", str(CONTAINER_MB)
        yield f"tez.{what}.launch.cmd-opts", f"@{TASK_OPTIONS_FILE}"
