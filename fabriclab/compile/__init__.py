"""From a plan to the files that an engine executes: node files, flow trace, machine job. Pure functions; nothing is
touched or started.

The formats are those of `images/machine/README.md`, `traffic/README.md` and `probes/README.md`.
"""

from fabriclab.compile.brought_programs import brings_programs
from fabriclab.compile.container_differences import SAMPLED_INSTEAD_NS, shortfalls
from fabriclab.compile.labels import makes_tunnels, routes_labels
from fabriclab.compile.machine import (
    compile_job,
    compile_machine_sysctl,
    machine_memory_bytes,
)
from fabriclab.compile.node import NAMES_FILE, NodeCompiler, NodeFiles, compile_names, compile_node
from fabriclab.compile.programs import needed_layers, program_nodes
from fabriclab.compile.real_time import compile_real_time
from fabriclab.compile.sampler import compile_sampler
from fabriclab.compile.trace import compile_hosts, compiled_flows
from fabriclab.workload import TraceError, trace_text

__all__ = [
    "NAMES_FILE",
    "SAMPLED_INSTEAD_NS",
    "NodeCompiler",
    "NodeFiles",
    "TraceError",
    "brings_programs",
    "compile_hosts",
    "compile_job",
    "compile_machine_sysctl",
    "compile_names",
    "compile_node",
    "compile_real_time",
    "compile_sampler",
    "compiled_flows",
    "machine_memory_bytes",
    "makes_tunnels",
    "needed_layers",
    "program_nodes",
    "routes_labels",
    "shortfalls",
    "trace_text",
]
