"""The files of a lab whose switches have VRFs: FRR and the kernel give it all routes, as each switch's file says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabriclab.formats.family import AnyInterface
from fabriclab.vendors.sonic.lab.fabric_files import (
    INCAST,
    clab,
    comment,
    link_line,
    switch_lines,
    topology_of,
    variables,
)
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_stubs import StubLink
from fabriclab.vendors.sonic.lab.fabric_switches import Fabric
from fabriclab.vendors.sonic.lab.files import SWITCH_IMAGE
from fabriclab.vendors.sonic.lab.vrf_edge import Edge, EdgeHost, EdgeRouter
from fabriclab.vendors.sonic.vrf.routers import RETRY_S
from fabriclab.vendors.sonic.vrf.segments import HEADERS_BYTES, has_segments
from fabriclab.vendors.sonic.vrf.words import rows

DAEMONS = "daemons"
_LEAKS = (("BGP_GLOBALS_AF", "import_vrf"), ("STATIC_ROUTE", "nexthop-vrf"))
_TARGETS = ("rt_vpn_import", "rt_vpn_export")


def conf_file(router: str) -> str:
    """Return the name of the file beside the topology that a neighbour's frr.conf is."""
    return f"{router}.frr.conf"


def topology_text(name: str, fabric: Fabric, links: Sequence[FabricLink], edge: Edge) -> str:
    """Return topology.clab.yml. A comment says by what each link was found."""
    mtu = _host_mtu(fabric, links)
    nodes = (
        *(line for router in edge.routers for line in _router(router)),
        *(line for host in edge.hosts for line in _host(host, mtu)),
    )
    of_edge = (
        *(_stub_link(link, fabric, ()) for router in edge.routers for link, _, _ in router.sessions),
        *(_stub_link(link, fabric, _on_link(host)) for host in edge.hosts for link in host.links),
        *(_link_behind(router, fabric) for router in edge.routers),
    )
    why = "# Interfaces are in VRFs, so FRR of each switch runs what SONiC makes of its file."
    return topology_of(name, fabric, nodes, (*of_edge, *map(link_line, links)), [why])


def _host_mtu(fabric: Fabric, links: Sequence[FabricLink]) -> int | None:
    """Return the MTU with which packets of hosts fit into tunnels over the links between switches; None: there are no
    tunnels."""
    if not links or not any(has_segments(switch.config) for switch in fabric.switches.values()):
        return None
    return min(fabric.switches[end.switch].mtu(end.port) for link in links for end in link.ends) - HEADERS_BYTES


def experiment_text(name: str, fabric: Fabric, edge: Edge, cell: str | None) -> str:
    """Return experiment.yml: an in-cast in each VRF, and who has to reach whom."""
    groups = hosts_by_vrf(edge)
    lines = [
        f"title: {name}, as the config_db.json files of its switches describe it",
        "",
        *switch_lines(fabric, [router.name for router in edge.routers], cell),
        "routing: {protocol: as-configured}  # each switch's own FRR and kernel",
        "",
        "traffic:  # a first traffic: one in-cast in each VRF",
        *(_incast(vrf, hosts) for vrf, hosts in groups.items() if len(hosts) > 1),
        "",
        "validation:  # hosts of a VRF reach those of the same one",
        "  pings:",
        *_pings(groups, has_leaks=_has_leaks(fabric)),
        "",
        "probes:",
        "  switches: {interval: 1 ms}",
        "  tcp: {interval: 1 ms}",
    ]
    return "".join(f"{line}\n" for line in lines)


def hosts_by_vrf(edge: Edge) -> dict[str, list[str]]:
    """Return the hosts of each VRF."""
    found: dict[str, list[str]] = {}
    for host in edge.hosts:
        found.setdefault(host.vrf, []).append(host.name)
    return found


def _incast(vrf: str, hosts: Sequence[str]) -> str:
    name = f"{INCAST}-{vrf}" if vrf else INCAST
    return (
        f"  {name}: {{kind: rounds, senders: [{', '.join(hosts[1:])}], receiver: {hosts[0]}, size: 64 KB, rounds: 10}}"
    )


def _pings(groups: Mapping[str, Sequence[str]], *, has_leaks: bool) -> Iterator[str]:
    """Yield the pings: of all hosts to the first one of their VRF and back, and of the first to that of another VRF."""
    for vrf, hosts in groups.items():
        if len(hosts) > 1:
            name = vrf or "default"
            yield f"    {name}: {{from: [{', '.join(hosts[1:])}], to: {hosts[0]}}}"
            yield f"    {name}-back: {{from: {hosts[0]}, to: {hosts[-1]}}}"
    if has_leaks:
        yield "    # The files lead routes from one VRF into another, so who must not reach whom is not written here."
        return
    first = {vrf: hosts[0] for vrf, hosts in groups.items()}
    for vrf, host in first.items():
        for other, target in first.items():
            if vrf != other:
                yield f"    {vrf or 'default'}-not-{other or 'default'}: {{from: {host}, to: {target}, answers: false}}"


def _has_leaks(fabric: Fabric) -> bool:
    """Return whether a file leads routes from one VRF into another."""
    configs = [switch.config for switch in fabric.switches.values()]
    said = (row.text(field) for config in configs for table, field in _LEAKS for row in rows(config, table))
    apart = (row.text(field) for config in configs for row in rows(config, "BGP_GLOBALS_AF") for field in _TARGETS)
    return any(said) or any(apart)


def _router(router: EdgeRouter) -> Iterator[str]:
    yield f"    {router.name}:  # no file describes it"
    yield "      kind: linux"
    yield f"      image: '{SWITCH_IMAGE}'"
    yield "      labels: {fabriclab.role: switch}"
    yield f"      binds: ['{conf_file(router.name)}:/etc/frr/frr.conf', '{DAEMONS}:/etc/frr/daemons']"


def router_conf(router: EdgeRouter) -> str:
    """Return a neighbour's frr.conf: its sessions, over which it announces the network of its host."""
    lines = ["frr defaults datacenter", f"hostname {router.name}"]
    names = {4: list[str](), 6: list[str]()}
    bgp = [f"router bgp {router.asn}", " no bgp ebgp-requires-policy", " no bgp default ipv4-unicast"]
    for link, session, at in router.sessions:
        lines += [f"interface {link.interface}"]
        lines += [f" {_ip(one)} address {one}" for one in _of_neighbour(session.peer, at.gateways)] + ["exit"]
        if session.peer is None:
            name, head = link.interface, f" neighbor {link.interface} interface v6only"
            families = [4, 6]
        else:
            gateway = next(one for one in at.gateways if session.peer in one.network)
            name, head, families = str(gateway.ip), f" neighbor {gateway.ip}", [gateway.version]
        bgp += [f"{head} remote-as {session.own_asn}", f" neighbor {name} timers connect {RETRY_S}"]
        for family in families:
            names[family].append(name)
    lines += [f"interface {_behind(router)}", f" {_ip(router.own)} address {router.own}", "exit"]
    for family, neighbours in names.items():
        if neighbours:
            own = [f"  network {router.own.network}"] if router.own.version == family else []
            active = [f"  neighbor {name} activate" for name in neighbours]
            bgp += [f" address-family ipv{family} unicast", *own, *active, " exit-address-family"]
    return "".join(f"{line}\n" for line in (*lines, *bgp, "exit"))


def _of_neighbour(peer: object, gateways: Sequence[AnyInterface]) -> Iterator[str]:
    yield from (f"{peer}/{one.network.prefixlen}" for one in gateways if peer is not None and peer in one.network)


def _ip(address: AnyInterface | str) -> str:
    return "ipv6" if ":" in str(address) else "ip"


def _behind(router: EdgeRouter) -> str:
    """Return a neighbour's interface to its host."""
    return f"eth{1 + max(int(link.interface.removeprefix('eth')) for link, _, _ in router.sessions)}"


def _host(host: EdgeHost, mtu: int | None) -> Iterator[str]:
    """Yield a host's node: its default routes lead to the switch, over a bond where that has a port channel. `mtu`:
    that of its interface, where tunnels need room."""
    commands = (
        [] if mtu is None else [f"ip link set eth{number + 1} mtu {mtu}" for number in range(len(host.links) or 1)]
    )
    if len(host.links) > 1:
        commands.append("ip link add bond0 type bond mode balance-xor xmit_hash_policy layer3+4 miimon 10")
        for link in host.links:
            commands += [f"ip link set {link.interface} down", f"ip link set {link.interface} master bond0"]
        commands += ["ip link set bond0 up", *(f"ip address add {one} dev bond0" for one in host.addresses)]
    for gateway in host.gateways:
        commands.append(f"ip {'-6 ' if gateway.version == 6 else ''}route replace default via {gateway.ip}")
    listed = ", ".join(f"'{one}'" for one in commands)
    yield f"    {host.name}: {{kind: linux, labels: {{fabriclab.role: host}}, exec: [{listed}]}}"


def _on_link(host: EdgeHost) -> Sequence[AnyInterface]:
    return host.addresses if len(host.links) == 1 else ()


def _stub_link(link: StubLink, fabric: Fabric, addresses: Sequence[AnyInterface]) -> str:
    written = "".join(f", ipv{one.version}: ['{one}', '']" for one in addresses)
    ends = f"'{link.node}:{link.interface}', '{clab(link.end)}'"
    return f"    - {{endpoints: [{ends}]{written}, vars: {variables(link.end, fabric)}}}  # {comment(link.found_by)}"


def _link_behind(router: EdgeRouter, fabric: Fabric) -> str:
    """Return the link of a neighbour to its host, as fast and as long as its first one."""
    first = router.sessions[0][0].end
    mtu = fabric.switches[first.switch].mtu(first.port)
    address = router.host.addresses[0]
    ends = f"'{router.host.name}:eth1', '{router.name}:{_behind(router)}'"
    written = f"ipv{address.version}: ['{address}', '{router.own}']"
    return (
        f"    - {{endpoints: [{ends}], {written}, mtu: {mtu}, vars: {variables(first, fabric)}}}  # added, like the "
        f"link to {first}"
    )
