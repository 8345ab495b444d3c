"""What a packet of RoCE costs on this host beside one of TCP: prints figures beside what they are meant to be, judges
nothing.

    python3 tests/bench/roce.py [--repeat N] [--k K]...

packet-hop    CPU time for each packet that a port of a host or a switch has sent, in microseconds, while every host
sends to another one at 10 Gbps for 10 ms

Switches are the same for both: a shared buffer with marks; for RoCE with a lossless class. Fat-trees: k=4 has 16 hosts
and 20 switches, k=8 128 hosts and 80 switches. The transports take turns, since a busy host costs both more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from fabric import Cost, run

from fabriclab.engine.artefacts import find_artefacts
from fabriclab.runs import RunContext

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from permutation_lab import over_chips, write_permutation


def measure(k: int, transport: str) -> Cost:
    """Run the permutation over a transport."""
    with tempfile.TemporaryDirectory() as name:
        lab = write_permutation(
            Path(name), k, protocol="static", rate_bps=10**10, delay_ns=1_000, stop="10 ms", sampled="5 ms"
        )
        over_chips(lab, transport)
        return run(lab, RunContext(lab, find_artefacts(), ("bench",), lambda _: None), transport)


def packet_hop_us(cost: Cost) -> float:
    return cost.traffic.cpu / cost.packets * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each run; the least counts")
    parser.add_argument("--k", type=int, action="append", help="fat-tree; repeatable (default: 4, 8)")
    options = parser.parse_args()
    for k in options.k or (4, 8):
        least: dict[str, float] = {}
        for _ in range(options.repeat):
            for transport in ("tcp", "roce"):
                cost = measure(k, transport)
                least[transport] = min(least.get(transport, float("inf")), packet_hop_us(cost))
                print(f"k={k} {transport}: {packet_hop_us(cost):.3f} us ({cost.packets:,} packets)", flush=True)
        ratio = least["roce"] / least["tcp"]
        print(f"k={k}: a packet-hop of RoCE {least['roce']:.3f} us, of TCP {least['tcp']:.3f} us: x {ratio:.2f}"
              " (target: at most 1)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
