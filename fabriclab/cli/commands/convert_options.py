"""`fabriclab convert`: the command with its options. What it does lies in `trace.py`."""

from __future__ import annotations

import typer

from fabriclab.cli.arguments import chakra
from fabriclab.cli.arguments.flow_files import FlowFile, FlowFormat, FlowHosts, FlowTransport
from fabriclab.cli.arguments.options import OutFile
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def convert(
    file: FlowFile,
    source: FlowFormat,
    hosts: FlowHosts = None,
    transport: FlowTransport = "tcp",
    algorithm: chakra.Algorithms = None,
    chunks: chakra.Chunks = 1,
    channels: chakra.Channels = 1,
    peak_tflops: chakra.PeakTflops = None,
    memory_gb_per_s: chakra.MemoryGbPerS = None,
    default_duration_ns: chakra.DefaultDurationNs = None,
    groups: chakra.GroupsFile = None,
    dimensions: chakra.Dimensions = None,
    communications: chakra.Communications = "group",
    out: OutFile = None,
) -> None:
    """Convert a simulator's flow file into a flow trace that a lab replays (kind: trace).

    The execution traces of a training (--from chakra) have computations, collectives and messages; each communication
    becomes flows that wait for the same communications, and for the computing time since them (docs/chakra.md).

    [bold]Examples[/bold]

      fabriclab convert flow.txt --from hpcc --hosts h1..h16 -o labs/mine/trace.csv

      fabriclab convert traces/llama --from chakra --transport roce -o labs/mine/trace.csv
    """
    with waiting("loading"):
        from fabriclab.cli.commands import trace as tracing
        from fabriclab.cli.host import failure
    with failure.reported():
        compute = (peak_tflops, memory_gb_per_s, default_duration_ns)
        options = chakra.options_of(algorithm or [], chunks, channels, *compute, groups, dimensions, communications)
        tracing.convert(file, source, hosts, transport, options, out)
