"""The nodes of the plan: hosts and switches, their ports, transport and routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from fabriclab.constraints import ALGORITHM_NAME
from fabriclab.formats import names, ranges
from fabriclab.formats.family import Family
from fabriclab.formats.names import InterfaceName, NodeName
from fabriclab.formats.plan.filters import FilterTable
from fabriclab.formats.plan.load_balancing import LoadBalancing
from fabriclab.formats.plan.policies import Announcement, NeighbourPolicy, Policies
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.setup import Dummy, Setup
from fabriclab.formats.plan.switch import Switch, SwitchPort
from fabriclab.formats.record import Frozen
from fabriclab.qdiscs import QDISCS, Own, Qdisc

Role = Literal["host", "switch"]


if TYPE_CHECKING:
    AnyQdisc = Qdisc
else:
    AnyQdisc = Annotated[Union[(*QDISCS, Own)], Field(discriminator="kind")]


class Queue(Frozen):
    """The buffer of one egress port: a byte limit and, optionally, ECN marks above a threshold of the
    instantaneous queue (RFC 8257)."""

    limit_bytes: Annotated[int, ranges.BUFFER_BYTES]
    ecn_threshold_bytes: Annotated[int, ranges.BUFFER_BYTES] | None = None
    non_ect: Literal["drop", "queue"] = "drop"
    """What happens above the threshold to a packet that cannot be marked:
    RED hardware drops it (RFC 8257, section 4.4)."""
    aqm: AnyQdisc | None = None
    """Instead of the threshold: a stock qdisc that manages the queue."""

    @property
    def marks(self) -> bool:
        """Whether it ever marks a packet."""
        return self.ecn_threshold_bytes is not None or (self.aqm is not None and self.aqm.marks)


class Pacer(Frozen):
    """A NIC's pacer: frames of flows that had marks wait, after segmentation, for the tokens of one bucket whose rate R
    becomes (1 - eta) R + eta M / interval + beta Q each interval, of the bits M that came and the bits Q that wait
    (HULL, NSDI 2012)."""

    bucket_bytes: Annotated[int, ranges.BUCKET_BYTES]
    interval_ns: Annotated[int, ranges.PACER_INTERVAL]
    eta_ppm: Annotated[int, ranges.PPM]
    beta: Annotated[int, ranges.BETA]
    """1/s."""
    probability_ppm: Annotated[int, ranges.PPM]
    """That an acknowledgement with ECE takes its flow in."""
    idle_ns: Annotated[int, ranges.PACER_IDLE]
    """A flow that sends nothing for so long is let go."""


class Limiter(Frozen):
    """A NIC's reaction point: a flow of which a congestion notification comes has a rate of its own (QCN, IEEE
    802.1Qau)."""

    least_bps: Annotated[int, ranges.LIMITER_RATE]
    active_bps: Annotated[int, ranges.LIMITER_RATE]
    """What a cycle adds to the target in active increase."""
    hyper_bps: Annotated[int, ranges.LIMITER_RATE]
    """What it adds in hyper-active increase, times the cycles since that began."""
    cycle_bytes: Annotated[int, ranges.CYCLE_BYTES]
    cycle_ns: Annotated[int, ranges.CYCLE_TIME]


class Nic(Frozen):
    """What a host's port does beside sending frames: the offloads of a network interface card."""

    queue: Queue
    """What the host queues by, in front of the card."""
    tso_bytes: Annotated[int, ranges.TSO_BYTES] | None
    """The largest burst that TCP hands over at once, in bytes of payload (ip-link(8), gso_max_size); None: full
    frames, one by one. The card cuts it into frames, which leave back to back."""
    gro: bool
    """Segments that came in together are merged before TCP sees them."""
    interrupt_delay_us: Annotated[int, ranges.INTERRUPT_DELAY_US] | Literal["adaptive"]
    """From the first frame received to the interrupt that tells of it and of those behind it (ethtool(8), rx-usecs);
    adaptive: Linux's DIM chooses."""
    receive_queues: Annotated[int, ranges.RECEIVE_QUEUES] = 1
    """Queues of the card, each with interrupts of its own; flows are spread by a hash."""
    tx_queues: Annotated[int, ranges.TX_QUEUES] = 1
    """Queues of the card, each with a `queue` in front of it; flows are spread by a hash, served frame by frame."""
    ring_bytes: Annotated[int, ranges.BUFFER_BYTES] | None = None
    """What a queue of the card takes of the `queue` in front of it, as with byte queue limits; None: there is nothing
    in front, the card's queue itself is the host's."""
    pacer: Pacer | None = None
    qcn: Limiter | None = None
    roce: Roce | None = None
    clock_ppb: Annotated[int, ranges.CLOCK_PPB] = 0
    """How much faster the NIC's clock is than those of the switches, in parts of a billion."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is newer where there is none, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return {key: value for key, value in record.items() if value or key not in ("qcn", "roce", "clock_ppb")}


DEFAULT, DEFAULT6 = "default", "::/0"
"""What the destination of a default route is called, of IPv4 and of IPv6."""


_NEWER_THAN_PORTS = ("nic", "ipv6", "extra_ipv6", "loss_ppm")


class Port(Frozen):
    """One end of a link, as seen from its node: what leaves here is queued, serialised at the line rate,
    and arrives after the delay."""

    interface: InterfaceName
    peer_node: NodeName
    peer_interface: InterfaceName
    mac: Annotated[str, names.MAC]
    address: Annotated[str, names.IPV4_INTERFACE] | None
    """IPv4 address with prefix length, e.g. `10.0.0.1/31`; None: of a member of a VLAN or port channel,
    which has the address instead, where addresses are the nodes' own matter, and where the fabric has IPv6 only."""
    extra_addresses: tuple[Annotated[str, names.IPV4], ...] = ()
    """Further IPv4 addresses of a host, without prefix length: MPTCP's endpoints, one for each further subflow through
    this port. They begin a network of their own, of the least size that holds them
    (`fabriclab.resolve.addressing.extra_network`)."""
    rate_bps: Annotated[int, ranges.LINE_RATE]
    delay_ns: Annotated[int, ranges.DELAY]
    """One-way propagation delay of the link."""
    mtu: Annotated[int, ranges.MTU]
    queue: Queue | None = None
    """Exactly one of queue (a buffer of its own, out of stock qdiscs) and switch_port is given."""
    switch_port: SwitchPort | None = None
    nic: Nic | None = None
    """Of a host's port, which has a switch_port too; it serialises exactly. Plans of earlier versions have hosts
    without one: their results can be read, but they are not run (`runnable.py`)."""
    ipv6: Annotated[str, names.IPV6_INTERFACE] | None = None
    """IPv6 address with prefix length; None: as for `address`."""
    extra_ipv6: tuple[Annotated[str, names.IPV6], ...] = ()
    """The same as `extra_addresses`, of IPv6."""
    loss_ppm: Annotated[int, ranges.PPM] = 0
    """Random loss of what leaves here, packets of a million."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is newer where there is none, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return {key: value for key, value in record.items() if value or key not in _NEWER_THAN_PORTS}

    @property
    def line_bps(self) -> int:
        """The rate at which frames leave in fact: by the clock of the port's NIC."""
        return self.rate_bps if self.nic is None else self.rate_bps + self.rate_bps * self.nic.clock_ppb // 10**9

    @model_validator(mode="after")
    def _has_one_buffer(self) -> Self:
        if (self.queue is None) == (self.switch_port is None):
            raise ValueError(f"{self.interface}: must have exactly one of queue and switch_port")
        return self


class Mptcp(Frozen):
    """A host's MPTCP (RFC 8684; Linux Documentation/networking/mptcp.rst, mptcp-sysctl.rst, ip-mptcp(8))."""

    subflows: Annotated[int, ranges.SUBFLOWS]
    """How many subflows a connection has, the first one included."""
    add_addr_accepted: Annotated[int, ranges.ENDPOINTS]
    """Most addresses announced by the peer that a connection uses."""
    scheduler: Annotated[str, names.SCHEDULER_NAME]
    """`net.mptcp.scheduler`."""
    path_manager: Literal["subflow", "fullmesh", "signal"]
    """What the kernel's path manager does with the addresses: a connection that this host opens has a subflow from each
    of them to the peer's first address, or to every address that the peer announces; or they are announced to the peer,
    which connects to them."""


class Transport(Frozen):
    """A host's TCP. Sources: Linux Documentation/networking/ip-sysctl.rst, ip-route(8)."""

    congestion_control: Annotated[str, ALGORITHM_NAME]
    ecn: Literal["off", "on", "accept", "accurate"]
    rto_min_us: Annotated[int, ranges.RTO_US]
    delayed_ack: bool
    initial_window_segments: Annotated[int, ranges.SEGMENTS]
    window_limit_segments: Annotated[int, ranges.SEGMENTS] | None
    """Most segments of full size that a connection of this host has in flight; None: no bound. It is the window that
    the receiver offers (`window` of its route, kept by the replay), so the congestion window itself may be larger."""
    receive_buffer_bytes: Annotated[int, ranges.SOCKET_BUFFER_BYTES]
    send_buffer_bytes: Annotated[int, ranges.SOCKET_BUFFER_BYTES]
    mptcp: Mptcp | None = None
    """None: the host has no endpoints of MPTCP and takes no further subflows; a flow of transport mptcp
    has one subflow then."""
    timestamp_error_ns: Annotated[int, ranges.TIMESTAMP_ERROR] = 0
    """How far a delay that this host measures for DX may be off, to either side (net.ipv4.tcp_delay_error_ns, ours)."""
    answers_dctcp: bool = False
    """Others run DCTCP and nobody said what this host runs: its end of their flows is DCTCP too,
    without which Linux refuses them ECN."""
    sack: bool = True
    """Whether it negotiates selective acknowledgements (net.ipv4.tcp_sack)."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is usual, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        usual = {"answers_dctcp": False, "timestamp_error_ns": 0, "sack": True}
        return {key: value for key, value in record.items() if key not in usual or value != usual[key]}


class Rdma(Frozen):
    """A host's RDMA devices for programs (verbs): Linux's `rdma_rxe`, one for each port."""

    dscp: Annotated[int, ranges.DSCP]
    """Of packets of queue pairs that have no traffic class (net.rdma_rxe.tos, ours)."""


class Route(Frozen):
    """A route of one node: a destination and the next hops that share it."""

    destination: Annotated[str, names.DESTINATION]
    next_hops: tuple[tuple[Annotated[str, names.GATEWAY], InterfaceName], ...]
    """Pairs of gateway address and interface."""


class StaticRoute(Frozen):
    """A static route of a switch's own configuration (a SONiC switch's config_db.json)."""

    destination: Annotated[str, names.DESTINATION]
    next_hops: tuple[tuple[Annotated[str, names.GATEWAY], InterfaceName], ...]
    """Pairs of gateway address and interface; an empty gateway: whoever has the destination's address there."""
    distance: Annotated[int, ranges.DISTANCE]
    """Administrative distance: of several routes to one prefix the lowest is used; what eBGP learns has 20."""
    blackhole: bool = False
    """It drops what it gets, and has no next hops."""
    advertised: bool = False
    """BGP announces it."""


_NEWER_THAN_SESSIONS = ("policy", "families", "policy6")


class BgpNeighbour(Frozen):
    """A session as a switch's own configuration has it."""

    interface: InterfaceName
    """The port that leads there."""
    address: Annotated[str, names.ADDRESS] | None
    """None: over link-local addresses."""
    asn: Annotated[int, ranges.ASN] | None
    """None: any other than the switch's own."""
    keepalive_s: Annotated[int, ranges.TIMER_S]
    hold_s: Annotated[int, ranges.TIMER_S]
    bfd: bool = False
    policy: NeighbourPolicy | None = None
    """None: it takes and announces all routes."""
    families: tuple[Family, ...] = ()
    """Of which it carries routes; none: of all that the lab has."""
    policy6: NeighbourPolicy | None = None
    """As `policy`, of routes of IPv6."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is newer where there is none, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return {key: value for key, value in record.items() if value or key not in _NEWER_THAN_SESSIONS}

    def carries(self, family: Family) -> bool:
        """Return whether routes of a family that the lab has go over it."""
        return not self.families or family in self.families

    def policy_of(self, family: Family) -> NeighbourPolicy | None:
        """Return what becomes of its routes of a family."""
        return self.policy if family == 4 else self.policy6


_NEWER_THAN_BGP = ("policies", "policies6", "announcements")


class OwnBgp(Frozen):
    """BGP as a switch's own configuration has it (a SONiC switch's config_db.json),
    where others have what follows from the topology."""

    neighbours: tuple[BgpNeighbour, ...]
    networks: tuple[Annotated[str, names.DESTINATION], ...]
    """That it announces."""
    max_paths: Annotated[int, ranges.PATHS] | None = None
    """None: the lab's."""
    policies: Policies | None = None
    """The lists and maps that its sessions and announcements name, for routes of IPv4."""
    policies6: Policies | None = None
    """Those for routes of IPv6: a map of one name may have other entries there."""
    announcements: tuple[Announcement, ...] = ()
    """What of `networks` goes through a map first."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is newer where there is none, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return {key: value for key, value in record.items() if value or key not in _NEWER_THAN_BGP}

    def policies_of(self, family: Family) -> Policies | None:
        """Return the lists and maps for routes of a family."""
        return self.policies if family == 4 else self.policies6


class PortChannel(Frozen):
    """Parallel links to one neighbour as one (IEEE 802.1AX, without LACP): a flow takes one of them by a
    hash of its five-tuple."""

    name: InterfaceName
    members: tuple[InterfaceName, ...]
    """Ports of this node."""
    peer_interface: InterfaceName
    """What the neighbour calls it."""
    mac: Annotated[str, names.MAC]
    address: Annotated[str, names.IPV4_INTERFACE] | None
    """IPv4 address with prefix length; None: of a VLAN's member, and where the fabric has IPv6 only."""
    ipv6: Annotated[str, names.IPV6_INTERFACE] | None = None
    """IPv6 address with prefix length."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave `ipv6` out where there is none, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return record if self.ipv6 is not None else {key: value for key, value in record.items() if key != "ipv6"}


class Vlan(Frozen):
    """A broadcast domain that ends at its switch: hosts in one network (IEEE 802.1Q, untagged),
    and the switch's own address in it."""

    name: InterfaceName
    vlan_id: Annotated[int, ranges.VLAN]
    members: tuple[InterfaceName, ...]
    """Ports and port channels of this switch; a host is behind each."""
    mac: Annotated[str, names.MAC]
    address: Annotated[str, names.IPV4_INTERFACE] | None
    """The switch's own address in the VLAN (SVI), IPv4 with prefix length: the hosts' gateway; None: where the fabric
    has IPv6 only."""
    ipv6: Annotated[str, names.IPV6_INTERFACE] | None = None
    """The same of IPv6."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave `ipv6` out where there is none, as in every plan that was made before there was such a thing."""
        record: dict[str, Any] = serialise(self)
        return record if self.ipv6 is not None else {key: value for key, value in record.items() if key != "ipv6"}


class Node(Frozen):
    """A host or a switch."""

    name: NodeName
    role: Role
    ports: tuple[Port, ...]
    port_channels: tuple[PortChannel, ...] = ()
    vlans: tuple[Vlan, ...] = ()
    switch: Switch | None = None
    """What its ports share, of a switch with a profile."""
    transport: Transport | None = None
    """Hosts only."""
    asn: Annotated[int, ranges.ASN] | None = None
    """AS number of a switch that speaks BGP."""
    loopback: Annotated[str, names.IPV4] | None = None
    """IPv4 address of a switch that speaks BGP: its router identifier, and reachable from every other one where the
    fabric has IPv4."""
    bgp: OwnBgp | None = None
    """BGP of a switch whose own configuration says it, else None."""
    static_routes: tuple[StaticRoute, ...] = ()
    """Static routes of a switch whose own configuration says them, else none."""
    routes: tuple[Route, ...] = ()
    """The routes of a switch that speaks BGP: what it must have when routing has converged (`fabriclab.resolve.bgp`),
    its static routes among them."""
    loopback6: Annotated[str, names.IPV6] | None = None
    """IPv6 address of a switch that speaks BGP, where the fabric has IPv6: reachable from every other one."""
    setup: Setup | None = None
    """What its own files do in it, beside what the lab asks for."""
    rdma: Rdma | None = None
    """Hosts only: None: programs find no device."""
    load_balancing: LoadBalancing | None = None
    """Switches only: None: by the hash of the five-tuple, whose seed follows from name and run."""
    dummies: tuple[Dummy, ...] = ()
    """Devices of its own that lead nowhere."""
    filters: tuple[FilterTable, ...] = ()
    """Packet filters of a switch whose own configuration says them."""
    frr: Annotated[str, names.VERSION] | None = None
    """The version of FRR that it runs, which was built (`fabriclab frr add`); None: the virtual machine's."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what there is none of, as in every plan that was made before there were such things."""
        record: dict[str, Any] = serialise(self)
        newer = {"static_routes", "setup", "loopback6", "rdma", "load_balancing", "dummies", "filters", "frr"}
        return {key: value for key, value in record.items() if value or key not in newer}
