"""One small traffic of each kind that generates flows, and a plan with two racks for them."""

from __future__ import annotations

from sample_plans import star

from fabriclab.distributions import builtin, mean_bytes
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import (
    Arrivals,
    ArrivalsTraffic,
    Awaited,
    Carrier,
    CollectiveTraffic,
    DistributedSize,
    FixedSize,
    FlowsTraffic,
    HadoopJob,
    HadoopTraffic,
    Iperf3Traffic,
    LongTraffic,
    Pairs,
    ProgramTraffic,
    QueryTraffic,
    RoundsTraffic,
    ShuffleTraffic,
    Traffic,
    UniformSize,
)

MS = 10**6
HOSTS = tuple(f"h{number}" for number in range(1, 7))
EVERYONE = Pairs(pattern="random", senders=HOSTS, receivers=HOSTS)


def distributed(name: str, cap_bytes: int | None = None) -> DistributedSize:
    """Return the sizes of a distribution of the project."""
    found = builtin(name)
    mean = mean_bytes(found.points, found.interpolation, cap_bytes)
    return DistributedSize(
        name=name, points=found.points, interpolation=found.interpolation, cap_bytes=cap_bytes, mean_bytes=mean
    )


KINDS: dict[str, Traffic] = {
    "rounds": RoundsTraffic(
        name="sru",
        senders=HOSTS[:3],
        receiver="h6",
        size_bytes=256_000,
        rounds=3,
        start_ns=MS,
        jitter_ns=1000,
        connection="kept",
        mode="pull",
    ),
    "long": LongTraffic(
        name="long",
        senders=HOSTS,
        pairs=Pairs(pattern="permutation", senders=HOSTS, receivers=HOSTS),
        start_ns=0,
        stop_ns=500 * MS,
        stagger_ns=0,
        jitter_ns=MS,
        carrier=Carrier(transport="mptcp"),
    ),
    "flows": FlowsTraffic(
        name="mice",
        senders=("h1", "h2"),
        receiver="h3",
        size_bytes=9000,
        count=3,
        start_ns=5,
        interval_ns=100,
        jitter_ns=250,
        mode="push",
        carrier=Carrier(dscp=46),
    ),
    "arrivals": ArrivalsTraffic(
        name="web",
        pairs=EVERYONE,
        size=distributed("web-search", 10**7),
        arrivals=Arrivals(process="poisson", interval_ns=MS, load_ppm=400_000),
        start_ns=0,
        stop_ns=3 * MS,
        deadline_ns=20 * MS,
        carrier=Carrier(congestion_control="dctcp"),
    ),
    "bursts": ArrivalsTraffic(
        name="bursts",
        pairs=Pairs(pattern="hot-spot", senders=HOSTS, receivers=HOSTS, hot_spots=("h6",), hot_share_ppm=500_000),
        size=UniformSize(smallest_bytes=2000, largest_bytes=16_000),
        arrivals=Arrivals(process="bursty", interval_ns=MS, burst_flows=3),
        start_ns=0,
        stop_ns=3 * MS,
    ),
    "jittered": ArrivalsTraffic(
        name="updates",
        pairs=Pairs(pattern="all-to-all", senders=HOSTS[:2], receivers=HOSTS),
        size=FixedSize(size_bytes=70_000),
        arrivals=Arrivals(process="jittered", interval_ns=MS, jitter_ns=10_000),
        start_ns=MS,
        stop_ns=5 * MS,
        mode="pull",
    ),
    "query": QueryTraffic(
        name="query",
        aggregators=("h1", "h4"),
        workers=HOSTS,
        fan_out=3,
        request_bytes=1600,
        response=UniformSize(smallest_bytes=1600, largest_bytes=2000),
        arrivals=Arrivals(process="poisson", interval_ns=2 * MS),
        start_ns=0,
        stop_ns=12 * MS,
        jitter_ns=10_000,
        deadline_ns=10 * MS,
        connection="kept",
    ),
    "shuffle": ShuffleTraffic(
        name="job",
        sources=("h1", "h2"),
        mappers=HOSTS[:4],
        reducers=HOSTS[3:],
        size_bytes=1_000_001,
        parallel_copies=2,
        replicas=3,
        start_ns=7,
    ),
    "collective": CollectiveTraffic(
        name="training",
        ranks=HOSTS[:4],
        operation="all-reduce",
        algorithm="ring",
        size_bytes=100_001,
        iterations=2,
        channels=2,
        buckets=2,
        compute_ns=MS,
        jitter_ns=1000,
        start_ns=5,
        carrier=Carrier(transport="roce"),
    ),
    "program": ProgramTraffic(
        name="redis-requests",
        node="h2",
        argv=("redis-benchmark", "-h", "h1"),
        start_ns=MS,
        after=(Awaited(program="redis", port=6379),),
        packages=("redis-tools",),
        memory_bytes=2**26,
    ),
    "hadoop": HadoopTraffic(
        name="cluster",
        version="3.4.2",
        namenode="h1",
        resourcemanager="h2",
        data_nodes=("h3", "h4"),
        compute_nodes=("h5", "h6"),
        replication=2,
        block_bytes=2**22,
        slots=2,
        jobs=(
            HadoopJob(
                name="sort",
                kind="terasort",
                start_ns=MS,
                size_bytes=10**6,
                prepare=("Generate", "/in"),
                run=("Sort", "/in", "/out"),
                prove=("Validate", "/out"),
            ),
            HadoopJob(name="own", kind="jar", start_ns=0, run=("Run", "/job/hadoop/cluster/a.jar"), file="a.jar"),
        ),
        settings=(("dfs.blocksize", "1048576"), ("yarn.acl.enable", "a<b")),
        jars=(f"org.example:tool:1.0={'0' * 64}", f"org.example:tool:1.0:tests={'1' * 64}"),
    ),
    "iperf3": Iperf3Traffic(name="elephants", senders=HOSTS[:2], receiver="h6", start_ns=MS, stop_ns=1000 * MS),
}


def two_racks(*traffic: Traffic, seed: int = 1) -> Plan:
    """Return a plan with h1..h6: the first three behind s1, the others behind s2 (as far as the generators look)."""
    plan = star(6, traffic=traffic, seed=seed)
    nodes = []
    for node in plan.nodes:
        if node.name in HOSTS[3:]:
            node = node.model_copy(update={"ports": (node.ports[0].model_copy(update={"peer_node": "s2"}),)})
        nodes.append(node)
    return plan.model_copy(update={"nodes": tuple(nodes)})
