"""The command line in this process, with a stand-in for the machine."""

from __future__ import annotations

from collections.abc import Callable

import fake_machine
from typer.testing import Result

Invoke = Callable[..., Result]


# What replay would log of the point's flows, from the trace that it is given.
ANSWER = fake_machine.EPOCH + (
    'for host in h1 client; do printf "%s\\n" "# fabriclab-flows-2" '
    '"flow,side,status,start_ns,connected_ns,first_byte_ns,end_ns,bytes,'
    'retransmits,timeouts,marks,delivered,min_rtt_us,srtt_us,transport,subflows" '
    '> "$job/raw/flows/$host.csv"; done\n'
    'grep -E "^[0-9]" "$job/traffic/trace.csv" | while IFS=, read -r flow start src dst size rest; do\n'
    '  echo "$flow,src,complete,,,10,2500000,$size,0,0,0,178,100,200,tcp," >> "$job/raw/flows/h1.csv"\n'
    '  echo "$flow,dst,complete,$start,,20,2500000,$size,,,,,,,tcp," >> "$job/raw/flows/client.csv"\n'
    "done\n"
)
