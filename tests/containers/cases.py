"""The labs that run on both engines beside each other (`side_by_side.py`), and those that do not, each with its reason.

Rates and times are small: a guest in QEMU is five to ten times slower than its clock. Only hosts that take part run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_OWN = "tests/containers"
_SMALL = {"links.rate": "20 Mbps", "probes.queues.interval": "2 ms", "probes.tcp.interval": "10 ms"}
_MANY = {"links.rate": "10 Mbps", "probes.queues.interval": "8 ms", "probes.tcp.interval": "20 ms"}
"""For more than six nodes: the guest has one processor."""
_DCTCP = {**_SMALL, "variant": "dctcp", "probes.queues.interval": "4 ms"}
"""Every 2 ms the guest misses 5.2 % of the samples, more than is sound."""
_DCTCP_QUEUE = {**_SMALL, "buffer": "100 KB", "traffic.long.stop": "2 s"}
_HASH = "there are few flows, and each kernel's own hash chooses their paths"
"""Inferred: of 26 and 34 flows single ones take from 0.36 to 3.8 times as long in containers, either way."""
_LATER = {"reconvergence_ns": "in containers the daemons' computing takes time"}
_LAST = {"goodput_bps": "chance decides which flow loses its last packet and waits at least 0.2 s for a timer"}


@dataclass(frozen=True)
class Case:
    """A lab with settings, and what may differ by more than usual: each metric with its reason."""

    name: str
    lab: str
    settings: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("goodput_bps", "queue_mean_bytes", "queue_max_bytes", "drops", "marks")

    @property
    def argv(self) -> list[str]:
        """Return what follows `fabriclab run`."""
        return [self.lab, *(word for name, value in self.settings.items() for word in ("--set", f"{name}={value}"))]


CASES = (
    Case("CUBIC", "labs/dctcp-queue", _DCTCP_QUEUE),
    Case("DCTCP, K = 30 KB", "labs/dctcp-queue", {**_DCTCP_QUEUE, **_DCTCP}),
    Case("CoDel", "labs/dctcp-queue", {**_DCTCP_QUEUE, "switches.default.aqm.kind": "codel"}),
    Case("FQ-CoDel", "labs/dctcp-queue", {**_DCTCP_QUEUE, "switches.default.aqm.kind": "fq_codel"}),
    Case("PIE", "labs/dctcp-queue", {**_DCTCP_QUEUE, "switches.default.aqm.kind": "pie"}),
    Case("Shared buffer", f"{_OWN}/shared"),
    Case(
        "MPTCP, two subflows",
        f"{_OWN}/two-paths",
        {"hosts.default.send_buffer": "128 KB"},
        reasons={"goodput_bps": "when the flow stops, up to one send buffer is still waiting, 3.5 % of the data"},
    ),
    Case(
        "MPTCP, send buffers of 4 MB",
        f"{_OWN}/two-paths",
        reasons={"goodput_bps": "the first millisecond decides it, see below"},
    ),
    Case(
        "Link down, FRR",
        f"{_OWN}/fabric",
        {"variant": "carrier-lost"},
        metrics=("goodput_bps", "reconvergence_ns"),
        reasons=_LATER,
    ),
    Case(
        "Blackhole, FRR with BFD",
        f"{_OWN}/fabric",
        {"variant": "silent-bfd"},
        metrics=("goodput_bps", "reconvergence_ns"),
        reasons=_LATER,
    ),
    Case(
        "Redis, memcached, nginx beside CUBIC",
        "labs/applications",
        {"links.rate": "20 Mbps", "probes.queues.interval": "2 ms", "buffer": "100 KB"},
        metrics=("goodput_bps", "queue_mean_bytes", "program_ns[redis-requests]", "program_ns[memcached-requests]"),
    ),
    Case(
        "Loss of 2 %",
        f"{_OWN}/fabric",
        {"variant": "lossy"},
        metrics=("goodput_bps", "fct_median_ns"),
    ),
    Case(
        "In-cast of 8",
        "labs/incast",
        {**_MANY, "senders": "8", "sru": "32 KB", "rounds": "4"},
        metrics=("coflow_median_ns", "goodput_bps", "queue_max_bytes", "drops", "timeouts"),
        reasons=_LAST,
    ),
    Case(
        "In-cast of 16",
        "labs/incast",
        {**_MANY, "senders": "16", "sru": "32 KB", "rounds": "4"},
        metrics=("coflow_median_ns", "goodput_bps", "queue_max_bytes", "drops", "timeouts"),
        reasons=_LAST,
    ),
    Case(
        # With CUBIC the long flows keep the buffer full: by chance a short one waits until they have ended.
        "20 KB beside two long flows, DCTCP",
        "labs/queue-buildup",
        {**_SMALL, "variant": "dctcp", "buffer": "100 KB", "rounds": "20", "traffic.long.stop": "3 s"},
        metrics=("throughput_bps[long]", "queue_mean_bytes", "fct_median_ns[short]"),
    ),
    Case(
        "OSPF, OSPFv3 by nodes' own files",
        f"{_OWN}/own-files",
        metrics=("goodput_bps", "fct_median_ns[old]", "fct_median_ns[new]"),
    ),
    Case(
        "Five flows come and go",
        "labs/convergence",
        {
            **_MANY,
            "variant": "cubic",
            "buffer": "100 KB",
            **{f"traffic.flow{number}.start": f"{200 * (number - 1)} ms" for number in range(2, 6)},
            **{f"traffic.flow{number}.stop": f"{2600 - 200 * number} ms" for number in range(1, 6)},
        },
        metrics=("goodput_bps", "queue_mean_bytes", "jain_phase_mean"),
        reasons={
            "queue_mean_bytes": (
                "phases of 0.2 s have only a few round trips, so chance decides which flow loses first"
            )
        },
    ),
    Case(
        "Two bottlenecks",
        "labs/multi-hop",
        {
            **_MANY,
            "variant": "cubic",
            "buffer": "100 KB",
            "stop": "2 s",
            "traffic.s1.senders": "a1",
            "traffic.s2.senders": "b1,b2",
            "traffic.s2.receivers": "r1,r2",
            "traffic.s3.senders": "c1",
        },
        metrics=("goodput_bps", "throughput_bps[s1]", "throughput_bps[s2]", "throughput_bps[s3]", "queue_mean_bytes"),
        reasons=dict.fromkeys(
            ("goodput_bps", "throughput_bps[s1]", "throughput_bps[s2]", "throughput_bps[s3]"),
            "flows that start within 50 us lose packets in step in the virtual machine; with starts spread over 20 ms, "
            "six seeds have 17.1 to 17.9 Mbps there, and of these s1 0.7 to 1.3 Mbps",
        ),
    ),
    Case(
        "In-cast beside long flows",
        "labs/buffer-pressure",
        {
            **_MANY,
            "variant": "cubic",
            "buffer": "64 KB",
            "long_hosts": "2",
            "traffic.query.senders": "h1..h4",
            "traffic.query.rounds": "8",
            "traffic.query.size": "20 KB",
        },
        metrics=("throughput_bps[background1]", "goodput_bps", "coflow_median_ns[query]", "queue_max_bytes"),
        reasons=dict.fromkeys(
            ("throughput_bps[background1]", "goodput_bps"),
            "there were two timeouts; with each seed there are four in the virtual machine",
        ),
    ),
    Case(
        "Mice beside elephants, FQ-CoDel",
        "labs/bufferbloat",
        {
            **_MANY,
            "variant": "fq-codel",
            "buffer": "200 KB",
            "start": "500 ms",
            "stop": "2 s",
            "traffic.elephants.senders": "h1,h2",
            "traffic.mice.interval": "100 ms",
            "traffic.query.workers": "h6,h7",
            "traffic.query.interval": "100 ms",
        },
        metrics=("throughput_bps[elephants]", "queue_mean_bytes", "fct_median_ns[mice]", "coflow_median_ns[query]"),
    ),
    Case(
        "WRED at 18 KB, DCTCP",
        "labs/ecn-thresholds",
        {
            **_SMALL,
            "probes.queues.interval": "4 ms",
            "traffic.elephants.senders": "h1,h2",
            "traffic.elephants.stop": "2 s",
            "traffic.mice.interval": "100 ms",
            "traffic.mice.stop": "2 s",
            "traffic.query.workers": "h11,h12",
            "traffic.query.interval": "100 ms",
            "traffic.query.stop": "2 s",
        },
        metrics=("throughput_bps[elephants]", "queue_mean_bytes", "fct_median_ns[mice]", "coflow_median_ns[query]"),
    ),
    Case(
        "DCTCP, two flows of the fluid model",
        "labs/dctcp-fluid",
        {**_SMALL, "probes.queues.interval": "4 ms", "traffic.long.senders": "h1,h2", "traffic.long.stop": "2 s"},
    ),
    Case(
        "DCTCP in DX's lab",
        "labs/dx",
        {**_DCTCP, "traffic.long.stop": "2 s"},
    ),
    Case("DCTCP in QCN's lab", "labs/qcn", {**_DCTCP, "stop": "2 s"}),
    Case(
        "DCTCP in HULL's lab",
        "labs/hull",
        {
            **_DCTCP,
            "variant": "dctcp-30k",
            "traffic.long.enabled": "true",
            "stop": "2 s",
            "traffic.elephants.enabled": "false",
            "traffic.mice.enabled": "false",
        },
    ),
    Case(
        "Queries beside long flows, leaf-spine",
        "labs/leaf-spine",
        {
            **_MANY,
            "variant": "cubic",
            "buffer": "64 KB",
            "probes.queues.ports": "leaf1:eth1",
            "traffic.query.senders": "h5,h9",
            "traffic.query.count": "10",
            "traffic.query.interval": "100 ms",
            "traffic.short.senders": "h5",
            "traffic.short.count": "5",
            "traffic.short.interval": "200 ms",
            "traffic.update.senders": "h6",
            "traffic.update.stop": "2 s",
            "traffic.background.enabled": "false",
        },
        metrics=("throughput_bps[update]", "queue_mean_bytes", "fct_median_ns[query]", "fct_median_ns[short]"),
        reasons=dict.fromkeys(
            ("throughput_bps[update]", "queue_mean_bytes", "fct_median_ns[query]", "fct_median_ns[short]"), _HASH
        ),
    ),
    Case(
        "A spine link dies, FRR with BFD",
        "labs/link-failure",
        {
            **_MANY,
            "routing.convergence_limit": "300 s",
            "variant": "silent-bfd",
            "bfd": "300 ms",
            "traffic.messages-1.senders": "h3",
            "traffic.messages-1.size": "20 KB",
            "traffic.messages-1.count": "40",
            "traffic.messages-1.interval": "50 ms",
            "traffic.messages-2.enabled": "false",
            "traffic.long.senders": "h5",
            "traffic.long.stop": "2 s",
            "probes.queues.ports": "spine1:eth1",
        },
        metrics=("throughput_bps[long]", "fct_median_ns[messages-1]", "reconvergence_ns"),
        reasons=_LATER,
    ),
    Case(
        "Web search at 50 %",
        "labs/websearch-load",
        {
            **_MANY,
            "buffer": "64 KB",
            "traffic.web.senders": "h1,h5,h9",
            "traffic.web.receivers": "h1,h5,h9",
            "traffic.web.size": "10 KB .. 200 KB",
            "traffic.web.stop": "2 s",
            "probes.queues.ports": "leaf1:eth1",
        },
        metrics=("slowdown_mean", "fct_median_ns", "fct_p95_ns"),
        reasons=dict.fromkeys(("slowdown_mean", "fct_median_ns"), _HASH),
    ),
    Case(
        "A shuffle, shallow buffers",
        "labs/buffers",
        {
            **_MANY,
            "variant": "shallow",
            "background": "false",
            "size": "1 MB",
            "traffic.job.sources": "d1",
            "traffic.job.mappers": "c1,c2,c3",
            "traffic.job.reducers": "c1,c2,c3",
            "traffic.job.replicas": "1",
            "probes.queues.ports": "leaf-b:eth1",
        },
        metrics=("job_ns", "goodput_bps", "drops"),
        # Input takes 871 and 875 ms; of the shuffle two flows last 310 ms in place of 231, others end sooner.
        reasons={"goodput_bps": ("no packet is lost, so flows may share a link unequally; the last one decides")},
    ),
    Case(
        "Long flows and queries, static limits",
        "labs/shared-buffer",
        {
            **_MANY,
            "variant": "static",
            "traffic.long.senders": "l1,l2,l3,l4",
            "busy": "l5,l6",
            "traffic.query.senders": "h1,h2",
            "rounds": "4",
            "probes.queues.ports": "s1:eth47",
        },
        metrics=("throughput_bps[long]", "coflow_median_ns[query]", "queue_max_bytes"),
    ),
    Case(
        "A fabric without PFC",
        "labs/pfc-storm",
        {
            "links.rate": "10 Mbps",
            "probes.switches.interval": "10 ms",
            "probes.tcp.interval": "20 ms",
            "variant": "lossy",
            "events.storm.enabled": "false",
            "traffic.incast.senders": "h1,h9",
            "traffic.lossy.enabled": "false",
        },
        metrics=("goodput_bps", "throughput_bps[incast]", "throughput_bps[victim]", "throughput_bps[bystander]"),
        reasons={
            "throughput_bps[victim]": "it lasts three round-trip times with the full queue; with starts spread over 20 "
            "ms, six seeds have 1.86 to 2.25 Mbps in the virtual machine"
        },
    ),
    Case(
        "Queries, messages and updates",
        "labs/query-mix",
        {
            "links.rate": "10 Mbps",
            "probes.queues.interval": "8 ms",
            "probes.queues.ports": "s1:eth1",
            "buffer": "64 KB",
            "traffic.query.aggregators": "h1,h2",
            "traffic.query.workers": "h3,h4,h5,h6",
            "traffic.query.fan_out": "4",
            "traffic.message.senders": "h1,h2",
            "traffic.message.receivers": "h3,h4",
            "traffic.message.size": "10 KB .. 100 KB",
            "traffic.update.senders": "h5,h6",
            "traffic.update.receivers": "h1,h2",
            "traffic.update.size": "100 KB .. 300 KB",
        },
        metrics=("goodput_bps", "coflow_median_ns[query]", "fct_median_ns[message]", "fct_median_ns[update]"),
        reasons={
            "coflow_median_ns[query]": (
                "26 queries take from 6 to 403 ms in either engine; chance decides how many meet an update"
            )
        },
    ),
    Case(
        "A SONiC leaf's queues",
        "labs/sonic-qos",
        {
            "links.rate": "10 Mbps",
            "probes.switches.interval": "10 ms",
            "probes.tcp.interval": "20 ms",
            "routing.protocol": "static",
            "traffic.write.stop": "2 s",
            "traffic.backup.stop": "2 s",
            "traffic.backup.senders": "spine1-host",
            "traffic.write.senders": "server2",
            "traffic.read.enabled": "false",
            "traffic.restore.enabled": "false",
            "traffic.query.workers": "server5",
            "traffic.query.fan_out": "1",
            "traffic.query.interval": "100 ms",
            "traffic.query.start": "500 ms",
            "traffic.query.stop": "2 s",
        },
        metrics=("throughput_bps[write]", "throughput_bps[backup]", "coflow_median_ns[query]"),
    ),
)

_NO_ROCE = "containers have no NICs with RoCE"
_ROCE_LABS = ("ai-sonic", "allreduce", "hpcc", "moe", "roce-incast", "roce-storage", "two-jobs")
NOT_RUN = {
    "labs/buffer-rule": "at rates that containers keep, C x RTT is a few frames, too few for the rule",
    "labs/hadoop": "the lab runs, but its JVMs take real time to compute, so the run does not measure the network",
    "labs/spark": "its JVMs take real time to compute, like Hadoop's",
    "labs/l4s": "DualPI2 needs Linux 6.17 or later, and Prague is an algorithm that the lab brings",
    "labs/sonic-leaf-spine": "its switches need SONiC's image, which no registry has",
    "labs/dx-fat-tree": "all its 80 switches would be deployed, however few hosts take part",
    "labs/mptcp-short-flows": "all its 20 switches would be deployed, however few hosts take part",
    "labs/buffer-sharing": "containers have no memory that ports share, and at their rates nothing of it would be full",
    "labs/pfc-deadlock": f"{_NO_ROCE}, and no node sends pause frames",
    **dict.fromkeys(map("labs/{}".format, _ROCE_LABS), _NO_ROCE),
}
"""Labs without a measured case, each with the reason."""

NOT_ITSELF = {
    "labs/dx": "DX is an algorithm of the virtual machine's kernel; DCTCP runs instead",
    "labs/qcn": "QCN is part of the virtual machine's switch and NIC; DCTCP runs instead",
    "labs/hull": "the phantom queue and the pacer are the virtual machine's; DCTCP at 30 KB runs instead",
    "labs/pfc-storm": "no node sends pause frames; the variant without PFC runs instead",
}
"""Labs with a measured case that does not cover their subject."""
