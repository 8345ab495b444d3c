"""Kinds of Containerlab's nodes that other people's files have: what each is, and what its interfaces are called.

Source: Containerlab's `nodes/*`: kind names with their older forms, `InterfaceRegexp` and `InterfaceOffset`; a port's
number less the offset, counted from 1, is the N of `ethN`. SR Linux and SR-SIM keep names of their own (`e1-1`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabriclab.lab.network import containerlab
from fabriclab.lab.network.labels import Role
from fabriclab.lab.setup.frr import DIRECTORY, is_frr_image

LINUX = "linux"
OLDER_NAMES = (
    *(
        "c8000",
        "ceos",
        "cjunosevolved",
        "crpd",
        "cumulus_cvx",
        "cvx",
        "srl",
        "vr-aoscx",
        "vr-aruba_aoscx",
        "vr-ciena_saos",
    ),
    *("vr-cisco_csr1000v", "vr-cisco_n9kv", "vr-cisco_xrv", "vr-cisco_xrv9k", "vr-csr", "vr-dell_ftosv", "vr-ftosv"),
    *("vr-juniper_vmx", "vr-juniper_vqfx", "vr-juniper_vsrx", "vr-mikrotik_ros", "vr-n9kv", "vr-nokia_sros", "vr-pan"),
    *("vr-paloalto_panos", "vr-ros", "vr-sros", "vr-arista_veos", "vr-veos", "vr-vmx", "vr-vqfx", "vr-vsrx", "vr-xrv"),
    *("vr-xrv9k", "xrd"),
)
"""Names of kinds that Containerlab takes, or took, beside those of its schema."""
ALL_KINDS = (*containerlab.NODE_KINDS, *OLDER_NAMES)
_NO_ENDING = {
    "csr": "cisco_csr1000v",
    "cumulus_cvx": "nvidia_cumulusvx",
    "cvx": "nvidia_cumulusvx",
    "pan": "paloalto_panos",
    "srl": "nokia_srlinux",
}
"""Older names that are not an ending of today's."""
BRIDGES = ("bridge", "ovs-bridge")
"""Kinds that are a broadcast domain of Containerlab's host."""
_ALWAYS_HOSTS = frozenset(("keysight_ixia-c-one", "ostinato", "spirent_stc", "k8s-kind", "ext-container", "host"))
"""Generators of traffic, clusters and the host itself."""
_OPEN = frozenset((LINUX, "freebsd", "openbsd", "generic_vm"))
"""Kinds that are what their owner makes of them."""
_HOST_IMAGE = re.compile(r"multitool|netshoot|iperf|alpine|busybox|debian|ubuntu|nginx|fabriclab/host", re.IGNORECASE)
_HOST_COMMAND = re.compile(r"\bip\s+(?:-\w+\s+)*r(?:o(?:u(?:te?)?)?)?\s+(?:add|replace|change|del)\b")
_GIGABIT = r"(?:Gi|GigabitEthernet)\s?"
_ANY_SPEED = r"(?:Gi|GigabitEthernet|Te|TenGigE|TenGigabitEthernet)\s?0/0/0/(\d+)"
_JUNOS = r"(?:et|xe|ge)-0/0/(\d+)"
_PORTS: dict[str, tuple[str, int]] = {
    "aruba_aoscx": (r"1/1/(\d+)", 1),
    "arista_ceos": (r"(?:et|Et|Ethernet)(\d+)", 1),
    "arista_veos": (r"(?:Et|Ethernet)1/(\d+)", 1),
    "ciena_saos": (r"([1-9]\d*)", 1),
    "cisco_asav": (r"(?:GigabitEthernet|Gi)\s?0/(\d+)", 0),
    "cisco_c8000v": (_GIGABIT + r"(\d+)", 2),
    "cisco_cat9kv": (_GIGABIT + r"1/0/(\d+)", 1),
    "cisco_csr1000v": (_GIGABIT + r"(\d+)", 2),
    "cisco_ftdv": (r"(?:GigabitEthernet|Gi)\s?0/(\d+)", 0),
    "cisco_n9kv": (r"(?:Ethernet|Et)\s?1/(\d+)", 1),
    "cisco_vios": (_GIGABIT + r"(\d+)", 0),
    "cisco_xrd_vrouter": (_ANY_SPEED, 0),
    "cisco_xrv": (_GIGABIT + r"0/0/0/(\d+)", 0),
    "cisco_xrv9k": (_ANY_SPEED, 0),
    "f5_bigip-ve": (r"1\.(\d+)", 1),
    "fortinet_fortigate": (r"port(\d+)", 2),
    "freebsd": (r"vtnet(\d+)", 1),
    "juniper_cjunosevolved": (r"et-0/0/(\d+)", -3),
    "juniper_vjunosevolved": (_JUNOS, 0),
    "juniper_vjunosrouter": (_JUNOS, 0),
    "juniper_vjunosswitch": (_JUNOS, 0),
    "juniper_vmx": (_JUNOS, 0),
    "juniper_vqfx": (_JUNOS, 0),
    "juniper_vsrx": (_JUNOS, 0),
    "mikrotik_ros": (r"ether(\d+)", 2),
    "nokia_sros": (r"1/1/(\d+)", 1),
    "nvidia_cumulusvx": (r"swp(\d+)", 1),
    "openbsd": (r"vio(\d+)", 1),
    "paloalto_panos": (r"Ethernet1/(\d+)", 1),
    "spirent_stc": (r"port([1-9])", 0),
}
"""By kind: what a port is called, and the offset of its number."""
_NOKIA = {
    "nokia_srlinux": re.compile(r"ethernet-(\d+)/(\d+)(?:/(\d+))?"),
    "nokia_srsim": re.compile(r"(\d+)/(?:(x\d+)/)?(\d+)(?:/(c\d+))?/(\d+)"),
}
_IOL = re.compile(r"(?:e|Ethernet)\s?(\d+)/(\d+)")
_IOL_PORTS_A_SLOT = 4
_LONGEST = 15
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def present_name(kind: str) -> str:
    """Return the name that Containerlab's schema has for a kind, of an older one."""
    if kind in containerlab.NODE_KINDS:
        return kind
    bare = kind.removeprefix("vr-")
    endings = [known for known in containerlab.NODE_KINDS if known == bare or known.endswith(f"_{bare}")]
    return _NO_ENDING.get(bare) or next(iter(endings), kind)


def interface_name(kind: str, written: str) -> str:
    """Return what Linux is to call an interface that a file names in the words of its kind, as Containerlab maps it.

    A name that the kind has no rule for stays; characters that Linux takes in no name become `-`.
    """
    kind = present_name(kind)
    if kind in _PORTS:
        pattern, offset = _PORTS[kind]
        match = re.fullmatch(pattern, written)
        if match is not None and int(match[1]) >= offset:
            return f"eth{int(match[1]) - offset + 1}"
    if kind in _NOKIA and (match := _NOKIA[kind].fullmatch(written)) is not None:
        return "e" + "-".join(part for part in match.groups() if part)
    if kind == "cisco_iol" and (match := _IOL.fullmatch(written)) is not None:
        return f"eth{_IOL_PORTS_A_SLOT * int(match[1]) + int(match[2])}"
    name = _NOT_IN_A_NAME.sub("-", written).strip("-.")
    return name if len(name) <= _LONGEST else name[-_LONGEST:].lstrip("-.")


def guessed_role(
    kind: str,
    links: int,
    image: str,
    binds: Sequence[str],
    commands: Sequence[str],
    inherited: Sequence[str] = (),
    switching: str = "",
) -> tuple[Role, str]:
    """Return what a node without a role is, and why: of a vendor's kind a switch, but a generator of traffic; of the
    others by image, binds, commands, and links. A node of several links that passes packets on (`switching` says how)
    is no host.

    Binds that it has from its group, its kind or the defaults (`inherited`) are often meant for its neighbours: they
    say less than one link, or than an image of a host.
    """
    if kind in _ALWAYS_HOSTS:
        return "host", f"kind {kind}"
    if kind not in _OPEN:
        return "switch", f"kind {kind}"
    if any(map(is_frr_bind, binds)):
        return "switch", "a bind of /etc/frr"
    if is_frr_image(image):
        return "switch", "an image of FRR"
    inherits = any(map(is_frr_bind, inherited))
    less = ", which says more than an inherited bind of /etc/frr: FRR is not started in it" if inherits else ""
    if links <= 1:
        return "host", f"one link{less}"
    if switching:
        return "switch", switching
    if _HOST_IMAGE.search(image):
        return "host", f"an image of a host{less}"
    if inherits:
        return "switch", "an inherited bind of /etc/frr"
    if any(_HOST_COMMAND.search(command) for command in commands):
        return "host", "routes of its own in exec"
    return "switch", f"{links} links"


def is_frr_bind(bind: str) -> bool:
    """Return whether a bind, as written, is of a file or directory that FRR reads."""
    return bind.partition(":")[2].startswith(DIRECTORY)
