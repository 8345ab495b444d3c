"""The files of a lab whose routers run their own frr.conf: topology.clab.yml, experiment.yml, a frr.conf each, and
FRR's `daemons`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from fabriclab.units import format_rate
from fabriclab.vendors.frr.lab.devices import device_commands
from fabriclab.vendors.frr.lab.hosts import Host, announcement, is_announced
from fabriclab.vendors.frr.lab.links import Link, Segment
from fabriclab.vendors.frr.lab.routers import End, Router, Routers, first_ipv4

RATE, DELAY = "10 Gbps", "5 us"
DAEMONS = "daemons"
_SWITCH_IMAGE = "fabriclab/switch:latest"
_HOST_IMAGE = "fabriclab/host:latest"
_CAPABILITIES = "privileged: false, cap-add: [NET_ADMIN, NET_RAW, SYS_ADMIN, SYS_NICE]"
_ALWAYS = ("zebra", "staticd")
_BUFFER = "16 MB"


@dataclass(frozen=True)
class Parts:
    """What the lab is made of."""

    name: str
    routers: Routers
    links: Sequence[Link]
    segments: Mapping[str, Segment]
    """By the name of the bridge that each becomes."""
    hosts: Sequence[Host]
    rate: str = RATE
    delay: str = DELAY

    def hosts_of(self, router: str) -> list[Host]:
        """Return the hosts behind a router."""
        return [host for host in self.hosts if host.end.node == router]


def bound_file(router: str) -> str:
    """Return the name of the file beside the topology that a router's frr.conf is."""
    return f"{router}.frr.conf"


def frr_conf(router: Router, hosts: Sequence[Host]) -> bytes:
    """Return a router's frr.conf: as it was given, and what announces networks that are made up."""
    added = [line for host in hosts if host.is_made_up for line in announcement(router, host)]
    if not added:
        return router.config.data
    lines = router.config.data.decode().splitlines()
    while lines and lines[-1].strip() in ("end", "!", ""):
        lines.pop()
    return "".join(f"{line}\n" for line in [*lines, "!", *added, "!", "end"]).encode()


def daemons_text(routers: Routers) -> str:
    """Return FRR's `daemons`: those that any of the routers needs."""
    needed: dict[str, bool] = {}
    for router in routers.values():
        for daemon, is_needed in router.config.daemons.items():
            needed[daemon] = needed.get(daemon, False) or is_needed
    lines = ["# The daemons that the configurations of these routers need; made by fabriclab import frr."]
    lines += [f"{daemon}=yes" for daemon in _ALWAYS]
    lines += [f"{daemon}={'yes' if is_needed else 'no'}" for daemon, is_needed in needed.items()]
    return "".join(f"{line}\n" for line in [*lines, "vtysh_enable=yes"])


def topology_text(parts: Parts) -> str:
    """Return topology.clab.yml. A comment says by what each link was found."""
    lines = [
        f"# Made by fabriclab import frr: {len(parts.routers)} routers, each with its own frr.conf.",
        "# A comment gives the protocols of a router, or how a link was found.",
        f"name: {parts.name}",
        "topology:",
        "  kinds:",
        f"    linux: {{image: '{_HOST_IMAGE}', {_CAPABILITIES}}}",
        "  nodes:",
        *(line for router in parts.routers.values() for line in _router(router, parts)),
        *(line for name, segment in parts.segments.items() for line in _bridge(name, segment)),
        *map(_host, _first_of_each(parts.hosts)),
        "  links:",
        *(_host_link(host, parts) for host in parts.hosts),
        *_links(parts),
        *(line for name, segment in parts.segments.items() for line in _bridge_links(name, segment, parts)),
    ]
    return "".join(f"{line}\n" for line in lines)


def _first_of_each(hosts: Sequence[Host]) -> list[Host]:
    """Return a host's first link, of each."""
    first: dict[str, Host] = {}
    for host in hosts:
        first.setdefault(host.name, host)
    return [*first.values()]


def _names(hosts: Sequence[Host]) -> dict[str, None]:
    return dict.fromkeys(host.name for host in hosts)


def _router(router: Router, parts: Parts) -> Iterator[str]:
    asn = "" if router.config.own_bgp is None else f", fabriclab.asn: {router.config.own_bgp.asn}"
    yield f"    {router.name}:  # {spoken(router) or 'no routing protocol'}"
    yield "      kind: linux"
    yield f"      image: '{_SWITCH_IMAGE}'"
    yield f"      labels: {{fabriclab.role: switch{asn}}}"
    yield f"      binds: ['{bound_file(router.name)}:/etc/frr/frr.conf', '{DAEMONS}:/etc/frr/daemons']"
    commands = device_commands(router, _interfaces(router.name, parts))
    if commands:
        yield "      exec:"
        yield from (f"        - {command}" for command in commands)


def _interfaces(router: str, parts: Parts) -> list[str]:
    """Return the interfaces of a router that have a link in the lab."""
    ends = [end for link in parts.links for end in link.ends]
    ends += [end for segment in parts.segments.values() for end in segment.ends]
    ends += [host.end for host in parts.hosts]
    return [*dict.fromkeys(end.interface for end in ends if end.node == router)]


def spoken(router: Router) -> str:
    """Return what a router speaks, in a few words."""
    words = []
    for bgp in router.config.bgp:
        peers = list(bgp.peers())
        clients = sum(bgp.is_client(peer) for peer in peers)
        said = f"BGP {bgp.asn}" + ("" if bgp.vrf is None else f" in {bgp.vrf}")
        said += f" ({len(peers)} {'neighbour' if len(peers) == 1 else 'neighbours'}"
        words.append(said + (f", {clients} its reflector's clients)" if clients else ")"))
    words += [
        f"{process.protocol.upper()}" + ("" if process.vrf is None else f" in {process.vrf}")
        for process in router.config.interiors
    ]
    words += ["EVPN"] if router.config.has_evpn else []
    if router.config.routes:
        words.append(f"{len(router.config.routes)} static {'route' if len(router.config.routes) == 1 else 'routes'}")
    return ", ".join(words)


def _host(host: Host) -> str:
    """Return a host's node: its default route leads to the router at its first link."""
    command = f"ip route replace default via {host.gateway.ip}"
    return f"    {host.name}: {{kind: linux, labels: {{fabriclab.role: host}}, exec: ['{command}']}}"


def _bridge(name: str, segment: Segment) -> Iterator[str]:
    yield f"    {name}:  # {segment.network}, a network of {len(segment.ends)} routers"
    yield "      kind: linux"
    yield f"      image: '{_SWITCH_IMAGE}'"
    yield "      labels: {fabriclab.role: switch}"
    yield "      exec:"
    yield "        - ip link add br0 type bridge"
    yield from (f"        - ip link set eth{number} master br0" for number in range(1, len(segment.ends) + 1))
    yield "        - ip link set br0 up"


def _bridge_links(name: str, segment: Segment, parts: Parts) -> Iterator[str]:
    for number, end in enumerate(segment.ends, 1):
        yield f"    - {_veth(f'{name}:eth{number}', end, '', parts)}  # {segment.network}"


def _host_link(host: Host, parts: Parts) -> str:
    address = f", ipv4: ['{host.address}', '{host.gateway}']"
    return f"    - {_veth(f'{host.name}:{host.interface}', host.end, address, parts)}  # {host.found_by}"


def _links(parts: Parts) -> Iterator[str]:
    taken: list[IPv4Network] = [host.gateway.network for host in parts.hosts]
    for link in parts.links:
        address = _addresses(link, parts.routers, taken)
        yield f"    - {_between(link, address, parts)}  # {link.found_by}"


def _addresses(link: Link, routers: Routers, taken: list[IPv4Network]) -> str:
    """Return the addresses of a link's ends; nothing where they are of no network of their own (in VRFs, perhaps)."""
    a, b = (
        first_ipv4(routers[end.node], end.interface) if end.interface in routers[end.node].config.interfaces else None
        for end in link.ends
    )
    if a is None or b is None or a.network != b.network or not 8 <= a.network.prefixlen <= 31:
        return ""
    if any(a.network.overlaps(network) for network in taken):
        return ""
    taken.append(a.network)
    return f", ipv4: ['{a}', '{b}']"


def _between(link: Link, address: str, parts: Parts) -> str:
    """Return a link between routers: each end as fast as its own `bandwidth` says."""
    rates = [_rate(end, parts) for end in link.ends]
    if rates[0] == rates[1]:
        return _veth(str(link.a), link.b, address, parts)
    ends = ", ".join(
        f"{{node: {end.node}, interface: '{end.interface}', vars: {{rate: {rate}, delay: {parts.delay}}}}}"
        for end, rate in zip(link.ends, rates, strict=True)
    )
    return f"{{type: veth, endpoints: [{ends}]{address}}}"


def _veth(a: str, b: End, address: str, parts: Parts) -> str:
    return f"{{endpoints: ['{a}', '{b}']{address}, vars: {{rate: {_rate(b, parts)}, delay: {parts.delay}}}}}"


def _rate(end: End, parts: Parts) -> str:
    known = parts.routers[end.node].config.interfaces.get(end.interface)
    return parts.rate if known is None or known.bandwidth_bps is None else format_rate(known.bandwidth_bps)


def experiment_text(parts: Parts) -> str:
    """Return experiment.yml: round trips to begin with, in each VRF. All else is the files'."""
    lines = [
        f"title: {parts.name}, as the frr.conf files of its routers describe it",
        "",
        "switches:",
        f"  default: {{buffer: {_BUFFER}}}  # no file gives the buffer",
        "",
        "routing: {protocol: as-configured}  # only the routers' own frr.conf files",
        "",
        "traffic:  # a first traffic: every host sends requests to another host, which answers",
        *_traffic(asked(parts.hosts, parts.routers), len(_names(parts.hosts))),
        "",
        "probes:",
        "  switches: {interval: 1 ms}",
    ]
    return "".join(f"{line}\n" for line in lines)


def asked(hosts: Sequence[Host], routers: Routers) -> list[Host]:
    """Return the hosts that take part in the traffic: those whose networks their routers announce, or all where these
    are too few."""
    announced = [host for host in hosts if is_announced(host, routers[host.end.node])]
    return announced if len({host.name for host in announced}) > 1 else [*hosts]


def _traffic(hosts: Sequence[Host], count: int) -> Iterator[str]:
    """Yield the traffic of each VRF: hosts of two do not reach each other."""
    by_vrf: dict[str | None, dict[str, None]] = {}
    for host in hosts:
        by_vrf.setdefault(host.vrf, {})[host.name] = None
    groups = {vrf: [*names] for vrf, names in by_vrf.items() if len(names) > 1}
    ask = "pairs: permutation, mode: pull, size: 100 B, interval: 5 ms, stop: 50 ms"
    if not groups:
        yield f"  ping: {{kind: arrivals, senders: all, {ask}}}"
        return
    for vrf, names in groups.items():
        title = "ping" if vrf is None else f"ping-{''.join(letter if letter.isalnum() else '-' for letter in vrf)}"
        group = f"[{', '.join(names)}]"
        whom = "senders: all" if len(names) == count else f"senders: {group}, receivers: {group}"
        yield f"  {title}: {{kind: arrivals, {whom}, {ask}}}"
