"""What Hadoop's RPC client needs to run in virtual time: it as it is, but for one word.

Some callers set how long their connections may be idle to 0 ms: Tez' container launcher, clients of HDFS that open a
file which is being written (so does an application master that goes on where a lost one was, with its history), and
MapReduce's application masters. The client then polls for its next request with a timeout of 0 until the answer to this
one is there (org.apache.hadoop.ipc.Client, RpcRequestSender): elsewhere a processor is busy for a moment; in virtual
time, which stands still meanwhile, the answer never comes. So the class that reads this time is taken out of its
archive, the key's name in it is changed to one that none of these sets, and it lies before the archive in the class
path of all JVMs. Connections may then be idle for as long as those of others, 10 s, or for what the lab sets.
"""

from __future__ import annotations

from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.formats.run_directory import HADOOP

IDLE_KEY = "ipc.client.connection.maxidletime"
LAB_S_IDLE_KEY = "lab.client.connection.maxidletime"
"""Stands in its place, as long: a class file has a text's length before it."""
_CLASS = "org/apache/hadoop/ipc/Client$ConnectionId.class"
_PATCH = """\
import os, sys, zipimport
archive, place, name, old, new = sys.argv[1:]
code = zipimport.zipimporter(archive).get_data(name)
assert len(old) == len(new) and code.count(old.encode()) == 1, archive + " does not have " + old + " once"
file = os.path.join(place, name)
os.makedirs(os.path.dirname(file), exist_ok=True)
with open(file, "wb") as written:
    written.write(code.replace(old.encode(), new.encode()))
"""
"""Of Python the root file system has the least part, without zipfile."""


def patched_classes(cluster: HadoopTraffic) -> str:
    """Return the directory of changed classes, which all nodes see, and which is kept with the run."""
    return f"/job/{HADOOP}/{cluster.name}/classes"


def patch_command(cluster: HadoopTraffic) -> tuple[str, ...]:
    """Return the command that makes the changed class; it fails where the archive is another one."""
    archive = f"/opt/jars/hadoop-common-{cluster.version}.jar"
    return ("python3", "-c", _PATCH, archive, patched_classes(cluster), _CLASS, IDLE_KEY, LAB_S_IDLE_KEY)
