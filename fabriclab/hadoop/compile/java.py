"""How the JVMs of a cluster are started: files of options for `java @FILE`."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.formats.plan.traffic.hadoop import OPTIONS_FILE
from fabriclab.hadoop.compile.rpc import patched_classes

TASK_OPTIONS_FILE = "/etc/hadoop/task.options"
"""What application masters and tasks are given."""
_JARS = "/opt/jars"
_DAEMON_HEAP_MB, _TASK_HEAP_MB = 128, 96
_CHEAP = (
    # In the machine computing is cheap, and a system call or a touched page is not: one thread collects, one compiles.
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:CICompilerCount=1", "-XX:-UsePerfData", "-Xss512k", "-Xmn6m"),
    # Hadoop 3.4 reaches into the JDK's own packages, which Java 21 has to allow.
    *("--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED"),
)


def option_files(cluster: HadoopTraffic) -> dict[str, str]:
    """Return the texts of the files of options by their absolute paths."""
    daemons = (f"-Xmx{_DAEMON_HEAP_MB}m", *_CHEAP, "-Dlog4j.configuration=file:/etc/hadoop/log4j.properties")
    tasks = (f"-Xmx{_TASK_HEAP_MB}m", *_CHEAP)
    return {
        OPTIONS_FILE: _text((*daemons, "-cp", ":".join(_class_path(cluster)))),
        # A task's own directory has its job's configuration, and the job's archive.
        TASK_OPTIONS_FILE: _text((*tasks, "-cp", ":".join((*_class_path(cluster), ".", "job.jar")))),
    }


def _text(options: Sequence[str]) -> str:
    return "".join(f"{option}\n" for option in options)


def _class_path(cluster: HadoopTraffic) -> list[str]:
    """Return what is changed in the archives, these by their names, and the configuration. Archives of tests come after
    it: they have configurations of their own."""
    files = sorted({_file_of(jar) for jar in cluster.jars})
    tests = [file for file in files if file.endswith("-tests.jar")]
    others = [file for file in files if file not in tests]
    return [
        patched_classes(cluster),
        *(f"{_JARS}/{file}" for file in others),
        "/etc/hadoop",
        *(f"{_JARS}/{file}" for file in tests),
    ]


def _file_of(jar: str) -> str:
    """Return what Maven calls an archive, of `GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256`."""
    return "-".join(jar.partition("=")[0].split(":")[1:]) + ".jar"
