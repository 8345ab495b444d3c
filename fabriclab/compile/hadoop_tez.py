"""What Tez needs to run in virtual time: its container launcher as it is, but for one word.

The launcher sets how long its connections to node managers may be idle to 0 ms. Hadoop's RPC client then polls for its
next request with a timeout of 0 until the answer to this one is there (org.apache.hadoop.ipc.Client, RpcRequestSender):
elsewhere a processor is busy for a moment; in virtual time, which stands still meanwhile, the answer never comes. So
the class is taken out of its archive, the key's name in it is changed to one that nobody reads, and it lies before the
archive in the class path of application masters. Connections may then be idle for as long as those of others, 10 s.
"""

from __future__ import annotations

from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.formats.run_directory import HADOOP

_CLASS = "org/apache/tez/dag/app/launcher/TezContainerLauncherImpl.class"
_KEY = "ipc.client.connection.maxidletime"
_NOBODYS = "tez.client.connection.maxidletime"
"""As long: a class file has a text's length before it."""
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
    return f"/job/{HADOOP}/{cluster.name}/tez"


def patch_command(cluster: HadoopTraffic) -> tuple[str, ...]:
    """Return the command that makes the changed class; it fails where the archive is another one."""
    archive = f"/opt/jars/tez-dag-{cluster.tez_version}.jar"
    return ("python3", "-c", _PATCH, archive, patched_classes(cluster), _CLASS, _KEY, _NOBODYS)
