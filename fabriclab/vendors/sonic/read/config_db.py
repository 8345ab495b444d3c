"""A switch's `config_db.json` as typed tables: what fabriclab emulates of SONiC's CONFIG_DB.

Words and units are those of the YANG models (sonic-buildimage, src/sonic-yang-models); a None was not written.
References are resolved: a name in here is a key of the table that it refers to. Bytes, Mbit/s, ms, metres as in the
file; cir and pir are bytes (or packets) a second.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Interface, IPv6Network, ip_network
from typing import Literal

from fabriclab.formats.family import AnyAddress, AnyInterface, AnyNetwork, Family
from fabriclab.formats.plan.policies import NeighbourPolicy, Policies
from fabriclab.lab.network.own_configuration import NotEmulated
from fabriclab.lab.network.static_routes import WrittenStaticRoute
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.sonic.read.acl_tables import AclTable
from fabriclab.vendors.sonic.read.chips import UNKNOWN, Chip
from fabriclab.vendors.sonic.read.hash_tables import SwitchHash
from fabriclab.vendors.sonic.read.json_text import JsonText


@dataclass(frozen=True)
class Port:
    """An entry of PORT."""

    name: str
    speed_mbps: int | None
    mtu: int | None
    up: bool
    role: str = "Ext"
    """Ext: a front-panel port; others are within the chassis."""
    alias: str = ""
    """What the front panel calls it, and often what a neighbour's DEVICE_NEIGHBOR does."""
    lanes: int = 0
    """0: not said."""
    first_lane: int | None = None
    """The chip counts from 1 (NVIDIA's from 0); None: not said, or no number."""


@dataclass(frozen=True)
class BufferPool:
    """An entry of BUFFER_POOL."""

    name: str
    kind: str | None
    """ingress, egress or both."""
    mode: str | None
    size: int | None
    xoff: int
    """The size of the headroom that its lossless groups share, in bytes; 0: each has its own."""
    computed: bool = False
    """SONiC computes the size, of ports and profiles (buffer_model dynamic)."""


@dataclass(frozen=True)
class BufferProfile:
    """An entry of BUFFER_PROFILE."""

    name: str
    pool: str | None
    size: int | None
    static_th: int | None
    dynamic_th: int | None
    xon: int
    xoff: int
    xon_offset: int
    trims: bool = False
    """packet_discard_action trim, which is for queues."""


@dataclass(frozen=True)
class SwitchTrimming:
    """SWITCH_TRIMMING|GLOBAL: what becomes of packets that a queue with such a profile has no room for."""

    size: int | None
    """None: the platform's, 128 bytes by SAI."""
    dscp: int | None
    """None: from-tc."""
    dscps: Mapping[str, int]
    """By port, from-tc."""
    queue: int | None
    """None: dynamic."""

    def dscp_of(self, port: str) -> int | None:
        """Return the DSCP of packets that are trimmed at a port; None: there is none."""
        return self.dscps.get(port) if self.dscp is None else self.dscp


@dataclass(frozen=True)
class ArsObject:
    """An entry of ARS_OBJECT: how a group of next hops is used."""

    name: str
    assign_mode: str
    """per_flowlet_quality or per_packet_quality."""
    idle_time_us: int | None
    max_flows: int | None


@dataclass(frozen=True)
class AdaptiveRouting:
    """ARS_PROFILE, with the object of the switch's groups of next hops."""

    object: ArsObject | None = None
    """None: next hops are chosen by hash."""
    load_min: int | None = None
    load_max: int | None = None
    """The bounds of the load as it is (current_load_min_value and current_load_max_value). Neither SONiC nor SAI gives
    a unit; a lab counts bytes."""
    notes: tuple[str, ...] = ()
    """What a lab has otherwise, a sentence each."""
    table: str = ""
    lacking: tuple[str, ...] = ()
    """Interfaces or next hops that lead to BGP neighbours and are not listed in the table, though others are."""


@dataclass(frozen=True)
class BufferBinding:
    """BUFFER_PG or BUFFER_QUEUE: the profile of some groups or queues of some ports."""

    key: str
    """As written: `Ethernet0|3-4`."""
    ports: tuple[str, ...]
    indices: tuple[int, ...]
    profile: str | None
    """None: `NULL`, a lossless group whose headroom SONiC computes."""


@dataclass(frozen=True)
class QueueBinding:
    """QUEUE: scheduler and WRED profile of some queues of some ports."""

    key: str
    ports: tuple[str, ...]
    indices: tuple[int, ...]
    scheduler: str | None
    wred_profile: str | None


@dataclass(frozen=True)
class Scheduler:
    """An entry of SCHEDULER."""

    name: str
    kind: Literal["DWRR", "WRR", "STRICT"]
    weight: int
    meter_type: str
    cir: int | None
    cbs: int | None
    pir: int | None
    pbs: int | None


@dataclass(frozen=True)
class WredProfile:
    """WRED_PROFILE, green only: nothing in a lab colours frames otherwise."""

    name: str
    min_threshold: int | None
    max_threshold: int | None
    drop_probability: int
    """Per cent, at the maximum."""
    enabled: bool
    """Without it the profile does nothing, whatever ecn says (sonic-buildimage#4545)."""
    ecn: str

    @property
    def marks(self) -> bool:
        """Whether ECN is on for green."""
        return self.ecn in ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")


@dataclass(frozen=True)
class PortQosMap:
    """PORT_QOS_MAP of a port, or of `global`."""

    name: str
    maps: Mapping[str, str]
    """Name of a map by the field that refers to it: `dscp_to_tc_map` to `AZURE`."""
    pfc_enable: tuple[int, ...] | None
    pfcwd_sw_enable: tuple[int, ...] | None


@dataclass(frozen=True)
class PfcWatchdog:
    """A port's entry of PFC_WD."""

    port: str
    action: str | None
    detection_ms: int | None
    restoration_ms: int | None


@dataclass(frozen=True)
class LosslessDefaults:
    """DEFAULT_LOSSLESS_BUFFER_PARAMETER: of groups whose profile SONiC computes."""

    name: str
    dynamic_th: int | None


@dataclass(frozen=True)
class BgpNeighbour:
    """BGP_NEIGHBOR, of either style, what its peer group says filled in."""

    key: str
    address: AnyAddress | None
    """None: a session over an interface's link-local addresses."""
    interface: str | None
    name: str
    asn: int | None
    """None: `external`, whatever the neighbour says."""
    keepalive_s: int | None
    hold_s: int | None
    bfd: bool
    up: bool
    policy: NeighbourPolicy | None = None
    """What becomes of routes over the session; None: all pass."""
    policy6: NeighbourPolicy | None = None
    """The same of routes of IPv6."""
    over_ipv6: bool = False
    """It is known by an address of IPv6, whose link is `interface`."""
    families: tuple[Family, ...] = (4,)
    """Of which routes are exchanged, where a lab has both."""


@dataclass(frozen=True)
class DeviceNeighbour:
    """DEVICE_NEIGHBOR, with the type of DEVICE_NEIGHBOR_METADATA."""

    local_port: str
    name: str
    port: str
    kind: str
    """`ToRRouter`, `Server`...; empty where nothing is said."""


@dataclass(frozen=True)
class PortChannel:
    """An entry of PORTCHANNEL with its members."""

    name: str
    members: tuple[str, ...]
    mtu: int | None = None
    """That its members take, whatever PORT says (sonic-swss, teammgrd)."""
    up: bool = True


@dataclass(frozen=True)
class Vlan:
    """An entry of VLAN with its members."""

    name: str
    members: tuple[str, ...]
    """Ports and port channels whose frames have no tag."""
    tagged: tuple[str, ...] = ()
    up: bool = True


@dataclass(frozen=True)
class LeftOut:
    """Something of the file that a lab does not have."""

    what: str
    """A table, or `TABLE: field`."""
    entries: int
    why: str


def _is_of(network: AnyNetwork, address: AnyInterface) -> bool:
    return network in (address.network, ip_network(address.ip))


def are_of_ipv6(configs: Collection[ConfigDb]) -> bool:
    """Return whether the interfaces of a lab's switches have addresses of IPv6 alone."""
    return any(one.addresses6 for one in configs) and not any(one.addresses for one in configs)


@dataclass(frozen=True)
class ConfigDb:
    """All of a file that a lab can have."""

    file: str
    hostname: str = ""
    asic: str = ""
    """`asic0`, of a switch of several, each with a file of its own."""
    hwsku: str = ""
    """The switch's name among those that SONiC knows; empty: not said."""
    chip: Chip = UNKNOWN
    asn: int | None = None
    router_id: IPv4Address | None = None
    frrcfgd: bool = False
    """BGP is in the tables of frrcfgd rather than in bgpcfgd's."""
    max_paths: int | None = None
    networks: tuple[IPv4Network, ...] = ()
    """BGP_GLOBALS_AF_NETWORK."""
    announces_connected: bool = False
    """ROUTE_REDISTRIBUTE of connected routes into BGP."""
    networks6: tuple[IPv6Network, ...] = ()
    """The same two of IPv6."""
    announces_connected6: bool = False
    policies: Policies | None = None
    """The lists and maps that act."""
    network_maps: Mapping[str, str] = field(default_factory=dict)
    """The map that a network of BGP_GLOBALS_AF_NETWORK goes through."""
    redistribution_maps: Mapping[str, str] = field(default_factory=dict)
    """The map that routes go through which are announced by their protocol: connected, static; and `connected Vlan100`
    where that of connected ones asks for an interface."""
    policies6: Policies | None = None
    network_maps6: Mapping[str, str] = field(default_factory=dict)
    redistribution_maps6: Mapping[str, str] = field(default_factory=dict)
    """The same three for routes of IPv6."""
    static_routes: tuple[WrittenStaticRoute, ...] = ()
    """STATIC_ROUTE, IPv4 in the default VRF."""
    static_route_notes: tuple[str, ...] = ()
    """What of that table a lab cannot have that has IPv4 alone."""
    static_routes6: tuple[WrittenStaticRoute, ...] = ()
    static_route_notes6: tuple[str, ...] = ()
    """The same two of a lab that has IPv6."""
    ports: Mapping[str, Port] = field(default_factory=dict)
    addresses: Mapping[str, tuple[IPv4Interface, ...]] = field(default_factory=dict)
    """The addresses of INTERFACE, VLAN_INTERFACE and PORTCHANNEL_INTERFACE, by the interface's name."""
    addresses6: Mapping[str, tuple[IPv6Interface, ...]] = field(default_factory=dict)
    """Those of IPv6: they tell who is at the other end of a link, and a lab whose files have no others has them."""
    loopbacks: Mapping[str, tuple[IPv4Interface, ...]] = field(default_factory=dict)
    loopbacks6: Mapping[str, tuple[IPv6Interface, ...]] = field(default_factory=dict)
    vrfs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The interfaces of each VRF."""
    port_channels: tuple[PortChannel, ...] = ()
    vlans: tuple[Vlan, ...] = ()
    bgp_neighbours: tuple[BgpNeighbour, ...] = ()
    """One for each link, over its addresses of IPv4 if there is such a session."""
    bgp_neighbours6: tuple[BgpNeighbour, ...] = ()
    """Those known by an address of IPv6 whose link has another session as well: they count where a lab has both
    families."""
    device_neighbours: Mapping[str, DeviceNeighbour] = field(default_factory=dict)
    """By local port."""
    cable_metres: Mapping[str, int] = field(default_factory=dict)
    cable_origin: Mapping[str, str] = field(default_factory=dict)
    pools: Mapping[str, BufferPool] = field(default_factory=dict)
    profiles: Mapping[str, BufferProfile] = field(default_factory=dict)
    buffer_pgs: tuple[BufferBinding, ...] = ()
    buffer_queues: tuple[BufferBinding, ...] = ()
    queues: tuple[QueueBinding, ...] = ()
    schedulers: Mapping[str, Scheduler] = field(default_factory=dict)
    wred_profiles: Mapping[str, WredProfile] = field(default_factory=dict)
    maps: Mapping[str, Mapping[str, Mapping[int, int]]] = field(default_factory=dict)
    """By table (`DSCP_TO_TC_MAP`) and name."""
    port_qos: Mapping[str, PortQosMap] = field(default_factory=dict)
    watchdogs: Mapping[str, PfcWatchdog] = field(default_factory=dict)
    lossless_defaults: LosslessDefaults | None = None
    trimming: SwitchTrimming | None = None
    adaptive_routing: AdaptiveRouting = AdaptiveRouting()
    acls: tuple[AclTable, ...] = ()
    """ACL_TABLE with its rules, as far as packets of ports are filtered by it."""
    hash: SwitchHash = field(default_factory=SwitchHash)
    """SWITCH_HASH, and the seed."""
    left_out: tuple[LeftOut, ...] = ()
    not_emulated: tuple[NotEmulated, ...] = ()
    """What of it acts on traffic in the switch, and not in a lab."""
    notes: tuple[str, ...] = ()
    of_one_family: Mapping[str, str] = field(default_factory=dict)
    """Those of the notes that are not true of a lab with both families, each with what is said of a fabric that has
    IPv4 alone."""
    json: JsonText | None = field(default=None, compare=False, repr=False)

    def announcement_map(self, network: AnyNetwork) -> str | None:
        """Return the map that a network goes through: its own entry's, or that of the protocol that it is from."""
        is_of_ipv4 = network.version == 4
        written: tuple[AnyNetwork, ...] = self.networks if is_of_ipv4 else self.networks6
        maps = self.redistribution_maps if is_of_ipv4 else self.redistribution_maps6
        if network in written:
            return (self.network_maps if is_of_ipv4 else self.network_maps6).get(str(network))
        static = self.static_routes if is_of_ipv4 else self.static_routes6
        if any(route.advertised and route.prefix == network for route in static):
            return maps.get("static")
        every: list[tuple[str, tuple[AnyInterface, ...]]] = [*self.addresses.items(), *self.loopbacks.items()]
        every += [*self.addresses6.items(), *self.loopbacks6.items()]
        interface = next((name for name, found in every for one in found if _is_of(network, one)), "")
        return maps.get(f"connected {interface}", maps.get("connected"))

    def place(self, *path: str) -> Place:
        """Return file and line of a table, a key or a field; of what is above it where it is not written."""
        return Place(self.file) if self.json is None else self.json.place(path)

    def complain(self, problems: Problems, path: tuple[str, ...], message: str, value: str = "") -> None:
        """Record what is wrong at a table, a key or a field."""
        problems.add(self.place(*path), "|".join(path), message, value)
