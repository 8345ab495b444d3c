"""The two files of a lab with one imported switch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Interface

from fabriclab.lab.network.labels import parse_asn, parse_loopback
from fabriclab.units import format_duration, format_rate
from fabriclab.vendors.sonic.lab.load_balancing import load_balancing_text
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.neighbours import LabGroups, LabLink

# The images that imported labs name, so that they run with `--engine containerlab` as they are.
SONIC_IMAGE = "docker-sonic-vs:202511"
SWITCH_IMAGE = "fabriclab/switch:latest"
_HOST_IMAGE = "fabriclab/host:latest"
_CAPABILITIES = "privileged: false, cap-add: [NET_ADMIN, NET_RAW, SYS_ADMIN, SYS_NICE]"
LINUX_KIND = f"    linux: {{image: '{_HOST_IMAGE}', {_CAPABILITIES}}}"
"""The line below `kinds` of what is no SONiC: a host, where its node names no other image."""
LOOPBACK = "Loopback0"
"""Its address is the router's identifier."""


def topology_text(name: str, config: ConfigDb, links: tuple[LabLink, ...], notes: dict[str, None]) -> str:
    """Return topology.clab.yml: the switch, a host behind each port, a switch with a host of its
    own where BGP speaks."""
    lines = [
        f"name: {name}",
        "topology:",
        "  kinds:",
        LINUX_KIND,
        "  nodes:",
        f"    {name}: {{kind: linux, image: '{SWITCH_IMAGE}', labels: {{{_labels(config, notes)}}}}}",
        *_nodes(links, config, notes),
        "  links:",
        *map(_link, [name] * len(links), links),
        *_stub_links(links),
    ]
    return "".join(f"{line}\n" for line in lines)


def experiment_text(
    name: str,
    config: ConfigDb,
    links: tuple[LabLink, ...],
    groups: LabGroups,
    *,
    has_profile: bool,
    notes: dict[str, None],
) -> str:
    """Return experiment.yml: the profile, as large as it is, VLANs and port channels, routing,
    and traffic to begin with."""
    receiver, senders = _incast(links, notes)
    lines = [
        f"title: {name}, as its config_db.json describes it",
        "",
        "switches:",
        *_switch(name, config, groups, has_profile=has_profile),
        *(line for switch in _neighbour_switches(links) for line in _neighbour_switch(switch, groups)),
        *_routing(config, links, notes),
        "",
        "traffic:  # a first traffic: one in-cast",
        f"  incast: {{kind: rounds, senders: {senders}, receiver: {receiver}, size: 64 KB, rounds: 10}}",
        "",
        "probes:",
        "  switches: {interval: 1 ms}",
        "  tcp: {interval: 1 ms}",
    ]
    return "".join(f"{line}\n" for line in lines)


_NOT_SAID = "buffer: 16 MB}  # the file says nothing of it"
_SCALE = "# with slower links: scale: bandwidth, or a factor such as 1/100"


def _switch(name: str, config: ConfigDb, groups: LabGroups, *, has_profile: bool) -> Iterator[str]:
    """Yield what is written of the imported switch."""
    balancing = load_balancing_text(config)
    if not groups.channels and not groups.vlans and not balancing:
        yield f"  {name}: {{profile: {name}, scale: none}}  {_SCALE}" if has_profile else f"  {name}: {{{_NOT_SAID}"
        return
    yield f"  {name}:"
    yield from (
        (f"    profile: {name}", f"    scale: none  {_SCALE}")
        if has_profile
        else ("    buffer: 16 MB  # the file says nothing of it",)
    )
    if balancing:
        yield f"    load_balancing: {balancing}  # ARS_OBJECT"
    if groups.vlans:
        yield "    vlans:"
        yield from (f"      {vlan.name}: {_group(vlan.members, vlan.address)}" for vlan in groups.vlans)
    if groups.channels:
        yield "    port_channels:"
    for channel in groups.channels:
        own = None if channel.addresses is None else channel.addresses[0]
        yield f"      {channel.name}: {_group([link.interface for link in channel.links], own)}"


def _neighbour_switch(name: str, groups: LabGroups) -> Iterator[str]:
    """Yield what is written of a neighbour that speaks BGP: its end of each port channel."""
    channels = [channel for channel in groups.channels if channel.links[0].neighbour == name]
    if not channels:
        yield f"  {name}: {{{_NOT_SAID}"
        return
    yield f"  {name}:"
    yield "    buffer: 16 MB  # the file says nothing of it"
    yield "    port_channels:"
    for channel in channels:
        theirs = None if channel.addresses is None else channel.addresses[1]
        yield f"      {channel.name}: {_group([link.neighbour_interface for link in channel.links], theirs)}"


def _group(members: Sequence[str], address: IPv4Interface | None) -> str:
    ipv4 = "" if address is None else f", ipv4: {address}"
    return f"{{members: [{', '.join(members)}]{ipv4}}}"


def _labels(config: ConfigDb, notes: dict[str, None]) -> str:
    labels = ["fabriclab.role: switch"]
    if config.asn is not None and _fits_asn(config.asn, notes):
        labels.append(f"fabriclab.asn: {config.asn}")
    loopback = next(iter(config.loopbacks.get(LOOPBACK, ())), None)
    address = loopback.ip if loopback is not None else config.router_id
    if address is not None:
        try:
            labels.append(f"fabriclab.loopback: {parse_loopback(str(address))}")
        except ValueError as error:
            notes[f"LOOPBACK_INTERFACE|{LOOPBACK}: {error}; the lab assigns another"] = None
    return ", ".join(labels)


def _fits_asn(asn: int, notes: dict[str, None]) -> bool:
    try:
        parse_asn(str(asn))
    except ValueError as error:
        notes[f"AS number {error}; the lab assigns another"] = None
        return False
    return True


def _neighbour_switches(links: tuple[LabLink, ...]) -> dict[str, int | None]:
    """Return the neighbours that speak BGP, each with its AS number."""
    return {link.neighbour: link.session.asn for link in links if link.session is not None}


def _hosts(links: tuple[LabLink, ...]) -> list[str]:
    own = dict.fromkeys(link.neighbour for link in links if link.session is None)
    return [*own, *(f"{switch}-host" for switch in _neighbour_switches(links))]


def _incast(links: tuple[LabLink, ...], notes: dict[str, None]) -> tuple[str, str]:
    """Return who receives and who sends in the traffic to begin with, as the lab language writes it.

    A switch refuses a route with its own AS number in the path (RFC 4271, 9.1.2), and between two neighbours every
    path has both: those of one AS number do not reach each other. So a host receives that most others reach.
    """
    asns = {f"{switch}-host": asn for switch, asn in _neighbour_switches(links).items() if asn is not None}
    hosts = _hosts(links)
    sharing = Counter(asns.values())
    receiver = min(hosts, key=lambda host: sharing[asns[host]] if host in asns else 1)
    cut_off = [host for host in hosts if host != receiver and host in asns and asns[host] == asns.get(receiver)]
    for asn, count in sharing.items():
        if count > 1:
            notes[
                f"BGP: {count} neighbours are in AS {asn}, so their hosts do not reach each other: each neighbour "
                "refuses a path with its own AS number"
            ] = None
    if not cut_off:
        return receiver, "all"
    senders = [host for host in hosts if host != receiver and host not in cut_off]
    return (receiver, f"[{', '.join(senders)}]") if senders else (receiver, "all")


def _nodes(links: tuple[LabLink, ...], config: ConfigDb, notes: dict[str, None]) -> Iterator[str]:
    for switch, asn in _neighbour_switches(links).items():
        label = f", fabriclab.asn: {asn}" if asn is not None and asn != config.asn and _fits_asn(asn, notes) else ""
        yield f"    {switch}: {{kind: linux, image: '{SWITCH_IMAGE}', labels: {{fabriclab.role: switch{label}}}}}"
    for host in _hosts(links):
        yield f"    {host}: {{kind: linux, labels: {{fabriclab.role: host}}}}"


def _link(name: str, link: LabLink) -> str:
    ends = f"'{name}:{link.interface}', '{link.neighbour}:{link.neighbour_interface}'"
    addresses = "" if link.addresses is None else f", ipv4: ['{link.addresses[0]}', '{link.addresses[1]}']"
    return f"    - {{endpoints: [{ends}], mtu: {link.mtu}{addresses}, vars: {_variables(link)}}}"


def _variables(link: LabLink) -> str:
    return f"{{rate: {format_rate(link.rate_bps)}, delay: {format_duration(link.delay_ns)}}}"


def _stub_links(links: tuple[LabLink, ...]) -> Iterator[str]:
    """Yield the link of each neighbouring switch to its host, like the first one to us."""
    for switch in _neighbour_switches(links):
        alike = [link for link in links if link.neighbour == switch]
        ends = f"'{switch}:eth{len(alike) + 1}', '{switch}-host:eth1'"
        yield f"    - {{endpoints: [{ends}], mtu: {alike[0].mtu}, vars: {_variables(alike[0])}}}"


def _routing(config: ConfigDb, links: tuple[LabLink, ...], notes: dict[str, None]) -> Iterator[str]:
    sessions = [link.session for link in links if link.session is not None]
    if not sessions:
        return
    is_unnumbered = all(session.address is None for session in sessions)
    if not is_unnumbered and any(session.address is None for session in sessions):
        notes["BGP: the file has sessions over addresses and over interfaces; in the lab all are over addresses"] = None
    keys = [f"protocol: {'bgp-unnumbered' if is_unnumbered else 'bgp-numbered'}"]
    if config.max_paths is not None:
        keys.append(f"max_paths: {config.max_paths}")
    timers = {(session.keepalive_s, session.hold_s) for session in sessions}
    if len(timers) > 1:
        notes["BGP: the sessions have different timers; in the lab all use the lab's own"] = None
    else:
        ((keepalive, hold),) = timers
        keys += [f"keepalive: {keepalive} s"] if keepalive else []
        keys += [f"hold: {hold} s"] if hold else []
    if any(session.bfd for session in sessions):
        keys.append("bfd: on")
    yield ""
    yield f"routing: {{{', '.join(keys)}}}"
