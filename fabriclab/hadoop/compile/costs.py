"""What the daemons of a cluster are preloaded with (`images/machine/preload`): the class of what they send, and what
disks and processors cost them."""

from __future__ import annotations

from fabriclab.compile.programs import Variables, preload_variables
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.formats.run_directory import COST_LOGS

_SHARED = "/data/costs"
_ON = f"dd of={_SHARED} conv=notrunc status=none"
"""As `costs.c` has it: the file's first byte says whether anything costs."""
DAEMON_VARIABLES = ("LD_PRELOAD", "FABRICLAB_DSCP", "FABRICLAB_COSTS", "FABRICLAB_COSTS_LOG")
"""What containers need of what their node manager is given."""


def daemon_variables(cluster: HadoopTraffic, role: str) -> Variables:
    """Return what a daemon of a cluster, and what it starts, finds in its environment."""
    costs = cluster.costs
    if costs is None:
        return preload_variables(cluster.dscp)
    numbers = ",".join(map(str, costs.numbers()))
    return preload_variables(
        cluster.dscp,
        ("FABRICLAB_COSTS", numbers),
        ("FABRICLAB_COSTS_LOG", _logs(cluster)),
        ("FABRICLAB_COSTS_NAME", role),
    )


def charging_command(cluster: HadoopTraffic) -> tuple[str, ...]:
    """Return the command after which a node's disk and its containers' processors take time."""
    return ("sh", "-c", f"mkdir -p {_logs(cluster)} /data; printf 1 | {_ON}")


def _logs(cluster: HadoopTraffic) -> str:
    return f"/job/{COST_LOGS}/{cluster.name}"
