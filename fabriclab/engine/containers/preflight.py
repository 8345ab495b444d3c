"""Before anything is deployed: all that is missing on this host, each with its cure, in one go."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.docker import image_identity, server
from fabriclab.engine.containers.needs import (
    CONGESTION_SETTING,
    congestion_controls_of,
    devices_of,
    qdiscs_of,
    u32_trial,
)
from fabriclab.engine.containers.topology import NodeContainer
from fabriclab.qdiscs import CLASSFUL, STOCK
from fabriclab.registry.vendors import VENDORS

CAPABILITIES = frozenset({"NET_ADMIN", "NET_RAW", "SYS_ADMIN"})
"""What a node's container must be allowed when it is not privileged: qdiscs and routes, ping, a writable /proc/sys."""
CURE_UNPRIVILEGED = (
    "write below its kind in topology.clab.yml: privileged: false, cap-add: [NET_ADMIN, NET_RAW, SYS_ADMIN, SYS_NICE]"
)

_SYSCTLS = Path("/proc/sys/net/ipv4")
_LABELS = Path("/proc/sys/net/mpls")
_U32 = "u32"
_KERNEL_OPTION = {"bfifo": "FIFO", "pfifo": "FIFO"}
_DEVICE_MODULE = {"bond": "bonding"}
_TRIAL_S = 60.0
_USUAL_QDISCS = ("tbf", "netem", "bfifo", "red")
_USUAL_CONTROLS = ("cubic", "dctcp")
"""What a port and a host of nearly every lab is made of."""
_TRIAL_RIGHTS = ("--cap-add", "NET_ADMIN")


class UnfitHostError(EngineError):
    """This host can't run the lab in containers; the text names each thing that is missing and what mends it."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(
            "this host can't run the lab in containers:\n" + "\n".join(f"  - {problem}" for problem in problems)
        )
        self.problems = tuple(problems)


def check_host(
    containers: Sequence[NodeContainer],
    sysctls: Iterable[str],
    tc_batches: Iterable[str],
    ip_batches: Iterable[str] = (),
    *,
    labels: bool = False,
) -> None:
    """Look for everything that runs need whose nodes have these `sysctl.conf`, `tc.batch` and `ip.batch` texts.

    `labels`: whether the nodes route labels (MPLS).

    Raises UnfitHostError with all that is missing.
    """
    problems = [*_host_problems(containers, sysctls, tc_batches, ip_batches), *(_labels() if labels else ())]
    if problems:
        raise UnfitHostError(problems)


def general_problems() -> list[str]:
    """Return what this host lacks of what nearly every lab needs, each with its cure:
    what a lab needs beyond it, a run of it tells."""
    containers = [NodeContainer(name, f"fabriclab/{name}:latest", False, CAPABILITIES) for name in ("host", "switch")]
    sysctls = [f"{CONGESTION_SETTING} = {name}" for name in _USUAL_CONTROLS]
    return _host_problems(containers, sysctls, [f"qdisc add dev eth1 root {kind}" for kind in _USUAL_QDISCS], ())


def _host_problems(
    containers: Sequence[NodeContainer], sysctls: Iterable[str], tc_batches: Iterable[str], ip_batches: Iterable[str]
) -> list[str]:
    problems = [*_containerlab(), *_congestion_controls(congestion_controls_of(sysctls))]
    docker = list(_docker())
    problems = docker + problems
    if not docker:
        images = list(dict.fromkeys(container.image for container in containers))
        missing = [image for image in images if image_identity(image) is None]
        problems += [_missing_image(image) for image in missing]
        problems += _capabilities(containers)
        present = [container for container in containers if container.image not in missing]
        if present:
            problems += _trial(present, _trial_lines(tc_batches))
            problems += _device_trial(present, devices_of(ip_batches))
    return problems


def _docker() -> Iterator[str]:
    if shutil.which("docker") is None:
        yield "`docker` is not on PATH: apt-get install docker.io"
        return
    try:
        server()
    except CommandError as error:
        said = error.said.lower()
        if "permission denied" in said:
            yield "you may not use Docker: sudo usermod -aG docker $USER, then log in again (or run as root)"
        elif "daemon running" in said or "cannot connect" in said:
            yield "the Docker daemon does not run: sudo systemctl start docker (or sudo dockerd)"
        else:
            yield f"Docker does not answer: {error.said or error}"


def _containerlab() -> Iterator[str]:
    path = shutil.which("containerlab")
    if path is None:
        yield "`containerlab` is not on PATH: https://containerlab.dev/install/ says how to install it"
    elif os.geteuid() != 0 and not Path(path).stat().st_mode & stat.S_ISUID:
        yield (
            f"Containerlab needs root: run fabriclab as root, or run sudo chmod u+s {path} and sudo usermod -aG "
            "clab_admins $USER"
        )


def _congestion_controls(needed: Sequence[str]) -> Iterator[str]:
    available, allowed = (_words(f"tcp_{kind}_congestion_control") for kind in ("available", "allowed"))
    for name in needed:
        if available is not None and name not in available:
            yield (
                f"the host's kernel has not loaded congestion control {name}: "
                f"{_module(f'tcp_{name}', f'CONFIG_TCP_CONG_{name.upper()}')}"
            )
    refused = [
        name
        for name in needed
        if available is not None and name in available and allowed is not None and name not in allowed
    ]
    if refused:
        # It is global to the host, and a container that is refused leaks a reference to the algorithm's module.
        value = " ".join([*(allowed or ()), *refused])
        yield (
            f"containers may not use {', '.join(refused)}: "
            f"sudo sysctl -w net.ipv4.tcp_allowed_congestion_control='{value}'"
        )


def _labels() -> Iterator[str]:
    if not _LABELS.exists():
        yield f"the host's kernel routes no labels: {_module('mpls_router mpls_iptunnel', 'CONFIG_MPLS_ROUTING')}"


def _words(name: str) -> list[str] | None:
    try:
        return (_SYSCTLS / name).read_text().split()
    except OSError:
        return None


def _module(module: str, option: str) -> str:
    if Path("/proc/modules").exists():
        return f"sudo modprobe {module} (Ubuntu has it in linux-modules-extra-{platform.release()})"
    return f"it can't load modules either, so a kernel with {option} is needed"


def _missing_image(image: str) -> str:
    for vendor in VENDORS:
        if vendor.kind is not None and vendor.kind.name in image:
            return f"there is no image {image}, and no registry has it: {vendor.kind.guide} says where to get it"
    return f"there is no image {image}: " + (
        "make images" if image.startswith("fabriclab/") else f"docker pull {image}"
    )


def _capabilities(containers: Sequence[NodeContainer]) -> Iterator[str]:
    for container in containers:
        lacking = CAPABILITIES - container.capabilities
        if not container.privileged and lacking:
            yield (
                f"the container of {container.node} is not privileged and lacks {', '.join(sorted(lacking))}; "
                f"{CURE_UNPRIVILEGED}"
            )


def _trial_lines(tc_batches: Iterable[str]) -> list[tuple[str, str]]:
    """Return the lines that try what node files need, each with what it tries. Every discipline has a handle of its
    own: the kernel refuses another kind under a handle that there is."""
    lines = []
    for number, kind in enumerate((kind for kind in qdiscs_of(tc_batches) if kind in STOCK), start=1):
        handle = f"{number:x}:"
        lines.append((kind, f"qdisc replace dev lo root handle {handle} {STOCK[kind].trial}"))
        if kind in CLASSFUL:
            lines.append((_U32, u32_trial(handle)))
    return lines


def _trial(containers: Sequence[NodeContainer], tried: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Try disciplines and classifiers in a container like the lab's, without a network."""
    # Privileged ones first: whether Docker can make them at all is to be known.
    container = sorted(containers, key=lambda candidate: not candidate.privileged)[0]
    try:
        failed = _failing(container.image, tried, ["--privileged"] if container.privileged else _TRIAL_RIGHTS)
    except CommandError as error:
        yield _no_trial(container, error)
        if not container.privileged:
            return
        try:
            failed = _failing(container.image, tried, _TRIAL_RIGHTS)
        except CommandError:
            return
    # Without a discipline to stand below a classifier can't be tried.
    tellable = [kind for kind in dict.fromkeys(failed) if kind != _U32 or not set(CLASSFUL) & set(failed)]
    yield from map(_lacking, tellable)


def _device_trial(containers: Sequence[NodeContainer], kinds: Sequence[str]) -> Iterator[str]:
    """Try devices in a container like the lab's; what keeps it from starting is told by the trial of disciplines."""
    container = sorted(containers, key=lambda candidate: not candidate.privileged)[0]
    tried = [(kind, f"link add name trial{number} type {kind}") for number, kind in enumerate(kinds)]
    with suppress(CommandError):
        for kind in _failing(container.image, tried, _TRIAL_RIGHTS, tool="ip") if tried else ():
            module = _DEVICE_MODULE.get(kind, kind)
            yield f"the host's kernel has no devices of kind {kind}: {_module(module, f'CONFIG_{module.upper()}')}"


def _lacking(kind: str) -> str:
    if kind == _U32:
        return f"the host's kernel can't classify with u32: {_module('cls_u32', 'CONFIG_NET_CLS_U32')}"
    option = f"CONFIG_NET_SCH_{_KERNEL_OPTION.get(kind, kind.upper())}"
    return f"the host's kernel has no queueing discipline {kind}: {_module(f'sch_{kind}', option)}"


def _failing(image: str, tried: Sequence[tuple[str, str]], rights: Sequence[str], tool: str = "tc") -> list[str]:
    """Return what of it the kernel refuses. Raises CommandError when it can't be tried."""
    argv = [
        "docker",
        "run",
        "--rm",
        "--interactive",
        "--network",
        "none",
        "--user",
        "0",
        *rights,
        "--entrypoint",
        tool,
        image,
    ]
    batch = "".join(f"{line}\n" for _, line in tried)
    try:
        run_command([*argv, "-force", "-batch", "-"], data=batch.encode(), timeout_s=_TRIAL_S)
    except CommandError as error:
        failed = [tried[number - 1][0] for number in _failed_lines(error.said) if number <= len(tried)]
        if not failed:
            raise
        return failed
    return []


def _failed_lines(said: str) -> list[int]:
    numbers = []
    for line in said.splitlines():
        if line.startswith("Command failed -:"):
            with suppress(ValueError):
                numbers.append(int(line.removeprefix("Command failed -:")))
    return numbers


def _no_trial(container: NodeContainer, error: CommandError) -> str:
    if "executable file not found" in error.said:
        return (
            f"the image {container.image} has no `tc`: it must have iproute2, ethtool and procps, as fabriclab/host has"
        )
    cure = f"; {CURE_UNPRIVILEGED}" if container.privileged else ""
    said = " ".join(line for line in error.said.splitlines() if not line.startswith("Run 'docker"))
    return f"no container of the image {container.image} can be started: {said or error}{cure}"
