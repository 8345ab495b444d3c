"""A flow file of each importer, and its trace without the head; the fuzzer begins with these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class SampleFile(NamedTuple):
    """A file and its flows as a trace has them, below its header."""

    name: str
    text: str
    flows: str


SAMPLES: Mapping[str, SampleFile] = {
    # As traffic_gen.py writes them, with the text that flow.txt has below its last flow.
    "hpcc": SampleFile(
        "flow.txt",
        "3 \n2 1 3 100 200000000 2.000000000\n3 1 3 100 3 2.0000000015\n\n1 0 3 100 20 1.5\n\nFirst line: # of flows\n",
        "0,1500000000,h2,h1,20,,push,,,,hpcc\n"
        "1,2000000000,h3,h2,200000000,,push,,,,hpcc\n"
        "2,2000000002,h4,h2,4,,push,,,,hpcc\n",
    ),
    "htsim": SampleFile(
        "perm.cm",
        "# a comment\nNodes 8\nConnections 2\n7->5 id 1 start 1500 size 2000000\n\n6->1 id 2 start 0 size 100 prio 3\n",
        "0,0,h7,h2,100,,push,,,,htsim\n1,2,h8,h6,2000000,,push,,,,htsim\n",
    ),
    # The second has a mapper at the port of a reducer, whose part stays there, and a megabyte that is not whole.
    "coflow": SampleFile(
        "FB.txt",
        "6 2\n1 10 2 2 3 1 5:4.0\n7 0.5 2 0 2 2 0:3.0 5:1.000001\n",
        "0,500000,h3,h1,1500000,,push,,7,,coflow\n"
        "1,500000,h1,h6,500001,,push,,7,,coflow\n"
        "2,500000,h3,h6,500000,,push,,7,,coflow\n"
        "3,10000000,h3,h6,2000000,,push,,1,,coflow\n"
        "4,10000000,h4,h6,2000000,,push,,1,,coflow\n",
    ),
}
"""By the importer's name."""
