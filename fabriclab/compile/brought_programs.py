"""Whether a plan runs anything that it brought along, or only what is fabriclab's own or Debian's.

A machine without brought programs may run its processes in a mode that locks none of them in. So what counts is a list
of what is known, not of what is not: whatever a plan has that is not here is taken for brought.
"""

from __future__ import annotations

import re

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.setup import NodeFile, Setup
from fabriclab.formats.plan.traffic import HadoopJob, HadoopTraffic, Traffic
from fabriclab.lab.setup.frr import CONFIGURATION_FILES, frr_daemons
from fabriclab.lab.traffic.hadoop_archives import archives, tez_archives, versions
from fabriclab.lab.traffic.hadoop_jobs import FLAGS, MAIN_CLASSES, PROPERTIES

REPLAYED = frozenset({"rounds", "long", "flows", "arrivals", "query", "shuffle", "iperf3", "trace"})
"""Kinds of traffic that our replay or Debian's iperf3 sends, whatever their records say."""
_NETWORK = "net."
"""Sysctls that name no program; `kernel.core_pattern` and `kernel.modprobe` do."""
_HARMLESS_VALUE = re.compile(r"true|false|[0-9]+(\.[0-9]+)?[A-Za-z%]{0,2}")
"""Of a property of Hadoop's: others may name a class, or hold a command."""
_ARGUMENT = re.compile(r"(?:-D(?P<property>[a-z.]+)=)?[A-Za-z0-9_/][A-Za-z0-9_./-]*")


def brings_programs(plan: Plan) -> bool:
    """Return whether anything runs in nodes that is neither fabriclab's own nor Debian's nor Hadoop's.

    An own algorithm in C is none of these programs: the kernel runs it, which is bound from outside in every mode.
    """
    nodes = [*plan.nodes, *(node for event in plan.events for node in event.nodes)]
    setups = [node.setup for node in nodes if node.setup is not None]
    return not (all(map(_is_known_setup, setups)) and all(map(_is_known_traffic, plan.traffic)))


def _is_known_setup(setup: Setup) -> bool:
    """Return whether a node's own files are FRR's configuration alone, and what they start is FRR as they say."""
    runs = setup.main or setup.commands or setup.health or setup.environment
    return (
        not runs
        and all(map(_is_configuration, setup.files))
        and all(name.startswith(_NETWORK) for name in setup.sysctls)
        and setup.daemons in ((), frr_daemons(setup.files))
    )


def _is_configuration(file: NodeFile) -> bool:
    return file.path in CONFIGURATION_FILES and not file.executable


def _is_known_traffic(traffic: Traffic) -> bool:
    return _is_known_cluster(traffic) if isinstance(traffic, HadoopTraffic) else traffic.kind in REPLAYED


def _is_known_cluster(cluster: HadoopTraffic) -> bool:
    """Return whether a cluster is Hadoop as it is, and its jobs those that come with it."""
    if cluster.version not in versions():
        return False
    tez = () if cluster.tez_version is None else tez_archives(cluster.tez_version)
    return (
        set(cluster.jars) <= {*archives(cluster.version), *tez}
        and all(_HARMLESS_VALUE.fullmatch(value) for _, value in cluster.settings)
        and all(map(_is_known_job, cluster.jobs))
    )


def _is_known_job(job: HadoopJob) -> bool:
    return job.file is None and all(map(_is_known_command, (job.prepare, job.run, job.prove)))


def _is_known_command(words: tuple[str, ...]) -> bool:
    """Return whether a main class is one of Hadoop's examples, with arguments that name no other program."""
    arguments = [_ARGUMENT.fullmatch(word) for word in words[1:] if word not in FLAGS]
    return not words or (
        words[0] in MAIN_CLASSES
        and all(found is not None and found["property"] in (None, *PROPERTIES) for found in arguments)
    )
