"""What a fabric gains by cores on this host: the same lab on 1, 2, 4, ... of them, one line each, with the same bits.

    make bench-cores
    python3 tests/bench/cores.py [--k K] [--protocol static|bgp-unnumbered] [--milliseconds MS] [--cores N] [--repeat N]

start    seconds from the start of the virtual machines to the epoch; with FRR on all switches all routes are there then
traffic  seconds from the epoch to the end of the traffic, and how much faster that is than on one core
waited   of these, how long each virtual machine waited for the others, from its start on

A fat-tree with links of 1 Gbps and 10 us; every host sends to the one half of the fabric away. Of several
repeats the shortest counts. `docs/cores.md` has a model of what more cores gain.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from core_costs import compare
from permutation_lab import write_permutation


def main() -> None:
    """Measure, and print a line for each number of cores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--protocol", choices=["static", "bgp-unnumbered"], action="append")
    parser.add_argument("--milliseconds", type=int, default=100)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="the most to try")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    for protocol in options.protocol or ["static", "bgp-unnumbered"]:
        with tempfile.TemporaryDirectory() as name:
            lab = write_permutation(
                Path(name) / "lab",
                options.k,
                protocol=protocol,
                rate_bps=10**9,
                delay_ns=10_000,
                stop=f"{options.milliseconds} ms",
                sampled="10 ms",
            )
            print(f"fat-tree k={options.k}, {protocol}, {options.milliseconds} ms of traffic")
            compare(lab, options.cores, options.repeat)


if __name__ == "__main__":
    main()
