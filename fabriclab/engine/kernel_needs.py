"""What of a plan not every kernel has: the machine's usual one is Linux 6.12, and DualPI2 and accurate ECN are newer;
RDMA devices has only the usual one.

A kernel's artefact says what it has by the headers that it keeps (`images/machine/kernel/build.sh`, keep_headers), and
by its configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.engine.artefacts import BUILD, Artefacts, EngineError
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.shipped import is_installed

NEWER_SERIES = "7.3"
"""The series of `images/machine/kernel/patches` that has all of it."""
_HEADERS = "headers"
_CONFIGURATION = "config"
_USUAL = f"Use the usual kernel: unset KERNEL_SERIES and KERNEL_SOURCE; {BUILD} kernel"


@dataclass(frozen=True)
class Need:
    """Something that a node asks of the kernel."""

    node: str
    what: str
    kernel: str
    """Which kernel has it."""
    remedy: str


def check_kernel(artefacts: Artefacts, plans: Sequence[Plan]) -> None:
    """Raise EngineError where the machine's kernel lacks what a node of the plans asks for; it says how to get it."""
    headers = artefacts.kernel.parent / _HEADERS
    for plan in plans:
        for node in plan.nodes:
            for need in _lacking(node, headers):
                raise EngineError(
                    f"{need.node}: {need.what} needs {need.kernel}; the virtual machine's kernel is "
                    f"{_version(artefacts.kernel)}. {need.remedy}"
                )


def _lacking(node: Node, headers: Path) -> Iterator[Need]:
    for port in node.ports:
        aqm = port.queue.aqm if port.queue is not None else None
        if aqm is not None and aqm.kind == "dualpi2" and aqm.kind not in _words(headers / "qdiscs"):
            yield Need(node.name, "aqm kind dualpi2", "Linux 6.17 or later", _how_to_get())
    if node.transport is not None and node.transport.ecn == "accurate" and not _has_accurate_ecn(headers):
        yield Need(node.name, "ecn: accurate", "Linux 7.0 or later", _how_to_get())
    if node.rdma is not None and not _has_rdma(headers.parent / _CONFIGURATION):
        yield Need(node.name, "rdma: on", "rdma_rxe, which the usual kernel has", _USUAL)


def _has_rdma(configuration: Path) -> bool:
    """Return whether the kernel of this configuration has RDMA devices in software."""
    return configuration.is_file() and "CONFIG_RDMA_RXE=y" in configuration.read_text().splitlines()


def _words(file: Path) -> list[str]:
    return file.read_text().split() if file.is_file() else []


def _has_accurate_ecn(headers: Path) -> bool:
    """Return whether TCP of these headers can ask for accurate ECN (net.ipv4.tcp_ecn = 3)."""
    file = headers / "source" / "include" / "net" / "tcp_ecn.h"
    return file.is_file() and "TCP_ECN_IN_ACCECN_OUT_ACCECN" in file.read_text()


def _version(kernel: Path) -> str:
    file = kernel.parent / "version"
    lines = (line.partition(": ") for line in file.read_text().splitlines()) if file.is_file() else ()
    return next((f"Linux {value}" for name, _, value in lines if name == "Version"), "of an unknown version")


def _how_to_get() -> str:
    if is_installed():
        return "A wheel has only one kernel; a checkout can build others (docs/l4s.md)"
    build = f"export KERNEL_SERIES={NEWER_SERIES}; {BUILD} kernel"
    return f"Build one and use it: {build} (about 6 minutes, once; docs/l4s.md)"
