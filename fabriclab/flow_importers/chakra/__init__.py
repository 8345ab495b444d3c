"""Execution traces of MLCommons Chakra: what each rank of a training computes and communicates, and in which order.

ASTRA-sim and SimAI run such traces with a model of the network. Here each communication becomes flows, which wait for
the same communications, and for the computing time since them.
"""

from __future__ import annotations

from pathlib import Path

from fabriclab.flow_importers.chakra.files import FileReader, read_ranks
from fabriclab.flow_importers.chakra.flows import RankFlow, rank_flows
from fabriclab.flow_importers.chakra.matching import Matching
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.flow_importers.chakra.order import Order
from fabriclab.flow_importers.chakra.starts import Starts
from fabriclab.workload.trace_problems import TraceProblems

JOB = "chakra"
"""The group of all flows."""


def read_job(path: Path, read: FileReader, options: ChakraOptions) -> tuple[list[RankFlow], int]:
    """Return the flows of a trace in their order, and the number of ranks. Raises TraceError with every mistake."""
    problems = TraceProblems()
    traces = read_ranks(path, read, problems)
    problems.raise_if_any()
    tasks = Matching(traces, options, problems).tasks()
    problems.raise_if_any()
    ordered = Order(tasks).run(problems)
    problems.raise_if_any()
    return rank_flows(JOB, Starts(JOB).of(ordered)), len(traces)
