"""A node's files applied in its container: the same files, in the same order, as in the virtual machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.collect import JOB
from fabriclab.engine.containers.command import CommandError
from fabriclab.engine.containers.docker import Container, copy_in, run_in
from fabriclab.engine.containers.job import Interface, Job
from fabriclab.engine.containers.processes import START_SCRIPT
from fabriclab.engine.containers.programs import lay
from fabriclab.engine.interrupt import Interrupt

CONFIGURE_SCRIPT = f"{JOB}/configure.sh"
_SAMPLER_CONFIG = f"{JOB}/machine/sampler.json"
_FILES = ("sysctl.conf", "ip.batch", "ip6.batch", "bridge.batch", "tc.batch")
_TOOLS = ("replay", "sampler", "gauge")
_PRELOAD = "program.so"
"""What programs of the lab's own may be preloaded with (`fabriclab.compile.programs`)."""
_TRAFFIC = ("traffic/trace.csv", "traffic/hosts.csv")
CONFIGURE_S = 120.0
_MOUNTED = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
"""Docker mounts these: they can be written, but not replaced, which copying does."""
_HERE = Path(__file__).parent


class NodeError(EngineError):
    """A node could not be set up; the text names node and file."""


def prepare_node(container: Container, job: Job, directory: Path, tools: Path) -> None:
    """Copy into a container all that it needs, and apply the node's files. Raises NodeError."""
    node = container.node
    interfaces = job.interfaces[node]
    files = node_content(directory, directory / job.files[node], tools, interfaces, job.samplers.get(node))
    try:
        lay(container, job.layers.get(node, ()))
        copy_in(container, files)
        argv = ["sh", CONFIGURE_SCRIPT, f"{JOB}/{job.files[node]}", *(interface.name for interface in interfaces)]
        run_in(container, argv, timeout_s=CONFIGURE_S)
    except CommandError as error:
        raise NodeError(f"configure {node}: {error.said or error}") from error


class Preparation(Protocol):
    """What a vendor's `container` has."""

    def prepare(
        self, container: Container, config: Path, job: Job, directory: Path, tools: Path, interrupt: Interrupt
    ) -> None:
        """Wait until the switch is what its configuration says, and put traffic control on its ports.

        Raises EngineError.
        """


def node_content(
    directory: Path, files: Path, tools: Path, interfaces: Sequence[Interface], sampler: dict[str, Any] | None
) -> dict[str, Path | bytes]:
    """Return what a container gets, by path: scripts, tools, node files, flow trace, `root/`."""
    inside = f"{JOB}/{files.relative_to(directory).as_posix()}"
    content: dict[str, Path | bytes] = {START_SCRIPT: _HERE / "start.sh", CONFIGURE_SCRIPT: _HERE / "configure.sh"}
    content |= {f"/tools/{name}": tools / name for name in _TOOLS}
    content |= {f"/tools/{name}": tools / name for name in (_PRELOAD,) if (tools / name).is_file()}
    content |= {f"{JOB}/{name}": directory / name for name in _TRAFFIC}
    content |= {f"{inside}/{name}": files / name for name in _FILES if (files / name).is_file()}
    content[f"{inside}/links.batch"] = links_batch(interfaces).encode()
    # The directories that logs go to.
    content[f"{JOB}/raw/flows/.keep"] = b""
    if sampler is not None:
        content[_SAMPLER_CONFIG] = json.dumps(sampler).encode()
    for root in (files / "names", files / "root"):
        for path in sorted(root.rglob("*")):
            if path.is_file():
                name = f"/{path.relative_to(root).as_posix()}"
                content[f"{inside}/mounted{name}" if name in _MOUNTED else name] = path
    return content


def links_batch(interfaces: Sequence[Interface]) -> str:
    """Return the `ip -batch` lines that give the interfaces what the plan says:
    Containerlab chose their addresses at random."""
    return "".join(
        f"link set dev {interface.name} address {interface.mac} mtu {interface.mtu} up\n" for interface in interfaces
    )
