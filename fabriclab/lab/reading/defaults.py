"""What holds where an experiment says nothing. The plan shows every one of these; each has its source here."""

from __future__ import annotations

from typing import Final

DELAY_NS = 0
MTU_BYTES = 1500
"""Ethernet's (RFC 894). Containerlab's own default is 9500: write `mtu` in the topology to have the
same in both engines."""

CONGESTION_CONTROL = "cubic"
"""Linux: CONFIG_DEFAULT_TCP_CONG, net/ipv4/Kconfig."""
ECN = "accept"
"""Linux: net.ipv4.tcp_ecn = 2, Documentation/networking/ip-sysctl.rst."""
RTO_MIN_NS = 200_000_000
"""Linux: TCP_RTO_MIN, include/net/tcp.h."""
DELAYED_ACK = True
"""Linux delays acknowledgements by 40 ms to 200 ms (TCP_DELACK_MIN, TCP_DELACK_MAX)."""
INITIAL_WINDOW_SEGMENTS = 10
"""Linux: TCP_INIT_CWND; RFC 6928."""
RECEIVE_BUFFER_BYTES = 6 * 2**20
"""Linux: the largest value of net.ipv4.tcp_rmem on a machine with enough memory,
Documentation/networking/ip-sysctl.rst."""
SEND_BUFFER_BYTES = 4 * 2**20
"""Linux: the same of net.ipv4.tcp_wmem."""
HOST_QUEUE_BYTES = 15_000_000
"""A host's own queue before its line: 10,000 full frames, the limit of Linux's fq (tc-fq(8)); never the bottleneck."""

MPTCP_SUBFLOWS = 8
"""What a fat-tree needs (C. Raiciu et al., "Improving Datacenter Performance and Robustness with
Multipath TCP", SIGCOMM 2011)."""
MPTCP_SCHEDULER = "default"
"""Linux: net.mptcp.scheduler, Documentation/networking/mptcp-sysctl.rst."""
MPTCP_PATH_MANAGER = "subflow"
MPTCP_ADD_ADDR_ACCEPTED = 8
"""The most that Linux takes. Its own default is 0; but who has a host announce its addresses wants them used."""

TIMESTAMP_ERROR_NS = 0
"""The machine has one clock of 1 ns."""
TSO_BYTES = 65_536
"""GSO_MAX_SIZE of Linux's cards, include/linux/netdevice.h."""
GRO = False
INTERRUPT_DELAY_NS = 0
TX_QUEUES = 1
PACING = "off"
RING_BYTES = 24_000
"""Some 16 full frames. Byte queue limits come to the least with which a card is never idle while there is something to
send (lib/dynamic_queue_limits.c); one burst may always stand above it."""

PACER_BUCKET_BYTES = 3_000
"""24 kbit; HULL (NSDI 2012, section 5), as the five that follow."""
PACER_INTERVAL_NS = 64_000
PACER_ETA_PPM = 125_000
PACER_BETA = 16
PACER_PROBABILITY_PPM = 125_000
PACER_IDLE_NS = 10_000_000

NON_ECT = "drop"
"""RED hardware drops above the threshold what it cannot mark (RFC 8257, section 4.4)."""

WRED_PROBABILITY_PPM = 1_000_000
"""sonic-wred-profile.yang: drop probability 100 %."""
WRED_WEIGHT_LOG = 0
"""The queue of the moment, as DCTCP wants it (RFC 8257, section 4.1)."""
WRED_ECN = True
PHANTOM_RATE_PPM = 950_000
"""HULL's gamma (M. Alizadeh et al., "Less is More: Trading a little Bandwidth for Ultra-Low Latency in the
Data Center", NSDI 2012)."""
QCN_SET_POINT_BYTES = 26_000
"""ieee8021CnCpQueueSizeSetPoint of IEEE8021-CN-MIB, as the names of the seven that follow."""
QCN_SAMPLE_BYTES = 150_000
"""ieee8021CnCpMinSampleBase."""
QCN_WEIGHT = 2
"""ieee8021CnCpFeedbackWeight, 1: 2^1."""
QCN_LEAST_BPS = 5_000_000
"""ieee8021CnRpgMinRate."""
QCN_ACTIVE_BPS = 5_000_000
"""ieee8021CnRpgAiRate."""
QCN_HYPER_BPS = 50_000_000
"""ieee8021CnRpgHaiRate."""
QCN_CYCLE_BYTES = 150_000
"""ieee8021CnRpgByteReset."""
QCN_CYCLE_NS = 15_000_000
"""ieee8021CnRpgTimeReset."""
PFC_QUANTA = 65_535
"""The most that a pause says; it is repeated, and ended by one of no quanta."""
PFC_REACTION_NS = 0
WATCHDOG_ACTION = "drop"
WATCHDOG_RESTORATION_FACTOR = 2
"""How many times its detection time the watchdog waits before it restores a queue: sonic-utilities, pfcwd/main.py,
where no restoration time is given."""

START_NS = 0
STAGGER_NS = 0
FLOW_COUNT = 1
CONNECTION: Final = "kept"
ROUNDS_MODE: Final = "pull"
FLOWS_MODE: Final = "push"
JITTER_NS = 0
TRANSPORT: Final = "tcp"
DSCP = 0
ARRIVAL: Final = "poisson"
ARRIVAL_PAIRS: Final = "random"
LONG_PAIRS: Final = "permutation"
REQUEST_BYTES = 1600
"""The size of a query's request: DCTCP (SIGCOMM 2010), section 2.2."""
PARALLEL_COPIES = 5
"""Hadoop: mapreduce.reduce.shuffle.parallelcopies."""
REPLICAS = 1
"""What TeraSort writes; HDFS itself has dfs.replication 3."""
HDFS_REPLICATION = 3
"""HDFS: dfs.replication; fewer where there are fewer data nodes."""
HDFS_BLOCK_BYTES = 128 * 2**20
"""HDFS: dfs.blocksize."""
HADOOP_SLOTS = 2
"""YARN's own is 8; each is a JVM, of which 14 nodes are to fit into 16 GB."""
PROGRAM_MEMORY_BYTES = 64 * 2**20

PROTOCOL = "static"
MAX_PATHS = 64
KEEPALIVE_S = 3
HOLD_S = 9
"""FRR: `frr defaults datacenter`."""
BFD_MULTIPLIER = 3
"""FRR: bfdd, BFD_DEFDETECTMULT."""
CONVERGENCE_LIMIT_NS = 30 * 10**9
CONFIGURED_LIMIT_NS = 300 * 10**9
STILL_NS = 10 * 10**9
SLOW_STILL_NS = 50 * 10**9
"""OSPF elects a designated router when a neighbour may be dead, after 40 s (RFC 2328, section 9.4)."""

FAILURE_ACTION = "down"
FAILURE_RECOVERY_NS = 10**9
"""How long after a failure everybody must be reached again."""

QUEUE_INTERVAL_NS = 100_000
TCP_INTERVAL_NS = 1_000_000
INTERFACE_INTERVAL_NS = 10_000_000
SWITCH_INTERVAL_NS = 10_000_000
LAST_HOP_INTERVAL_NS, LAST_HOP_PORTS = 1_000_000, 16
"""The interval of the ports before the receivers, which are sampled where an experiment has no probes:
it holds up to so many ports, and is longer with more."""

SNAPLEN_BYTES = 128
"""Holds the headers of Ethernet, VLAN, IPv6 and TCP with all of its options, MPTCP's among them."""
FILE_LIMIT_BYTES = 250 * 10**6
"""Some 1.5 million packets of a port."""

LIMIT_NS = 60 * 10**9
"""Virtual time that a run gets at least, counted from the last start or stop that the experiment names."""
SEED = 1
DISK_BYTES = 200 * 10**6
"""A disk of 7,200 turns a minute, at its outer tracks; bytes a second."""
DISK_SEEK_NS = 12_700_000
"""The same: 8.5 ms on average, and half a turn."""
PAGE_CACHE_BYTES = 4 * 10**9
HADOOP_MAP_NS = 8_000_000
"""TeraSort of 300 MB, Hadoop 3.4.2, OpenJDK 17, a core of an AMD EPYC: the first 134 MB that a JVM mapped."""
HADOOP_SPILL_NS = 30_000_000
"""The same: sorting and writing them."""
HADOOP_MERGE_NS = 6_000_000
"""The same: fetching and merging 156 MB."""
HADOOP_REDUCE_NS = 9_000_000
"""The same: reducing and writing them."""
JVM_START_NS = 1_000_000_000
"""The same: what a task's JVM computes until it asks its master what to do."""
