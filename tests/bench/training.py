"""What an all-reduce of many ranks takes on this host: the same lab on 1, 2, 4, ... cores, one line each.

    python3 tests/bench/training.py [--leaves N] [--size SIZE] [--cores N] [--repeat N]

start    seconds from the start of the virtual machines to the epoch
traffic  seconds from the epoch to the end of the traffic, and how much faster that is than on one core
waited   of these, how long each virtual machine waited for the others, from its start on

Each leaf has 16 ranks, each a host with a RoCE NIC of 400 Gbps, and an uplink of 400 Gbps to each of 8 spines. They
reduce the data in a ring. `docs/cores.md` has measured values.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from fabriclab.topologies import leaf_spine, topology_text

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from core_costs import compare

_HOSTS = 16
_SPINES = 8
_RATE_BPS = 400 * 10**9
_EXPERIMENT = """title: An all-reduce of many ranks
question: How long does it take to compute?
hosts: {{default: {{nic: {{roce: {{mtu: 4096, window: 512}}}}}}}}
switches: {{default: {{profile: trident-3, pfc: {{priorities: [3]}}}}}}
traffic:
  training: {{kind: collective, ranks: h1..h{ranks}, operation: all-reduce, size: {size}, transport: roce}}
probes: {{interfaces: {{interval: 1 ms}}}}
"""


def write_training(directory: Path, leaves: int, size: str) -> Path:
    """Write a lab of so many leaves whose ranks reduce `size`, such as `2 MB`; return its directory."""
    directory.mkdir()
    fabric = leaf_spine(
        "training",
        spines=_SPINES,
        leaves=leaves,
        hosts_per_leaf=_HOSTS,
        host_rate_bps=_RATE_BPS,
        uplink_rate_bps=_RATE_BPS,
        oversubscription=None,
        delay_ns=500,
        mtu_bytes=4200,
    )
    (directory / "topology.clab.yml").write_text(topology_text(fabric))
    (directory / "experiment.yml").write_text(_EXPERIMENT.format(ranks=leaves * _HOSTS, size=size))
    return directory


def main() -> None:
    """Measure, and print a line for each number of cores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leaves", type=int, default=8)
    parser.add_argument("--size", default="2 MB")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="the most to try")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        lab = write_training(Path(name) / "lab", options.leaves, options.size)
        print(f"all-reduce of {options.size}, {options.leaves * _HOSTS} ranks, 400 Gbps")
        compare(lab, options.cores, options.repeat)


if __name__ == "__main__":
    main()
