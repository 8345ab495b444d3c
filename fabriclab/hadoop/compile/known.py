"""Whether a cluster is Hadoop as it is, with jobs that come with it, or runs anything that a lab brought along.

What counts is a list of what is known: whatever a cluster has that is not here is taken for brought.
"""

from __future__ import annotations

import re

from fabriclab.formats.plan.traffic import HadoopJob, HadoopTraffic
from fabriclab.hadoop.lab.archives import archives, tez_archives, versions
from fabriclab.hadoop.lab.jobs import FLAGS, MAIN_CLASSES, PROPERTIES

_HARMLESS_VALUE = re.compile(r"true|false|[0-9]+(\.[0-9]+)?[A-Za-z%]{0,2}")
"""Of a property of Hadoop's: others may name a class, or hold a command."""
_ARGUMENT = re.compile(r"(?:-D(?P<property>[a-z.]+)=)?[A-Za-z0-9_/][A-Za-z0-9_./-]*")


def is_known(cluster: HadoopTraffic) -> bool:
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
