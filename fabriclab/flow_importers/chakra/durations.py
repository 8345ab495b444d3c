"""How long computations take: the trace's own durations, or a roofline.

Source of the roofline: astra-sim, astra-sim/workload/Workload.cc (`issue_comp`) and system/Roofline.cc: the least of
the peak and of memory bandwidth times operations per byte is the rate.
"""

from __future__ import annotations

from fabriclab.flow_importers.chakra.nodes import TraceNode
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.formats.trace import LARGEST_NS

_NS_PER_MICRO = 1000
_TIMELESS = ("INVALID_NODE", "METADATA_NODE")


def duration_ns(node: TraceNode, options: ChakraOptions) -> int | str:
    """Return how long a node takes that does not communicate, in nanoseconds; or what is wrong with it."""
    if node.type in _TIMELESS:
        return 0
    if node.duration_micros:
        taken = node.duration_micros * _NS_PER_MICRO
        return (
            taken
            if taken <= LARGEST_NS
            else f"duration_micros {node.duration_micros} must be at most {LARGEST_NS // 1000}"
        )
    roofline = _roofline_ns(node, options)
    if roofline is not None:
        return roofline
    return _unknown(node) if options.default_duration_ns is None else options.default_duration_ns


def _roofline_ns(node: TraceNode, options: ChakraOptions) -> int | None:
    """Return the time of a roofline; None where the trace or the options lack something for it."""
    operations, size = node.number("num_ops") or 0, node.number("tensor_size") or 0
    times: list[float] = []
    if node.type == "COMP_NODE" and operations > 0:
        if node.on_cpu or options.peak_tflops is None:
            return None
        times.append(operations / (options.peak_tflops * 1e12))
    if size > 0 and options.memory_gb_per_s is not None:
        times.append(size / (options.memory_gb_per_s * 1e9))
    return round(max(times) * 1e9) if times else None


def _unknown(node: TraceNode) -> str:
    operations, size = node.number("num_ops"), node.number("tensor_size")
    has = f"duration_micros 0, num_ops {operations or 'none'}, tensor_size {size or 'none'}"
    wanted = "--default-duration-ns"
    if operations and not node.on_cpu and node.type == "COMP_NODE":
        wanted = f"--peak-tflops (a roofline) or {wanted}"
    elif size:
        wanted = f"--memory-gb-per-s or {wanted}"
    return f"its duration is not known ({has}); give {wanted}"
