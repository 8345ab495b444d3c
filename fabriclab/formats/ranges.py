"""The ranges of a plan's numbers, each with its reason: of the plan's records, and of the lab's readers where both have
the same."""

from __future__ import annotations

from fabriclab.constraints import Within
from fabriclab.formats.classes import QUEUES
from fabriclab.formats.trace import LARGEST_DSCP, LARGEST_NS, SMALLEST_BYTES

_US, _MS, _S = 10**3, 10**6, 10**9
DAY_NS = 24 * 3600 * _S

# Time
DURATION = Within(0, DAY_NS)
"""A day of virtual time."""
LASTING = Within(1, DAY_NS)
INSTANT = Within(0, LARGEST_NS)
"""After the epoch, as a flow trace counts it: what is computed from durations may be later than a day."""
COST_NS = Within(0, LARGEST_NS)

# Work
REPEATS = Within(1, 10**6)
FLOW_BYTES = Within(SMALLEST_BYTES, 2**40)
MOST_FLOWS = 10**7
"""The most flows of one experiment: their log is then about a gigabyte."""
RANKS = Within(2, 65_536)
CHANNELS = Within(1, 64)
"""NCCL has 64 at most (MAXCHANNELS)."""
CHUNKS = Within(1, 1024)
SERVER_RATE = Within(10**6, 10**14)
SKEW_PPM = Within(0, 4_000_000)
PROGRAM_MEMORY_BYTES = Within(1 << 20, 1 << 36)
SEED = Within(0, 2**31 - 1)

# Shares
PPM = Within(0, 10**6)
LOAD_PPM = Within(100, 2_000_000)

# Links and the ports' own queues
LINE_RATE = Within(10_000, 1_600 * 10**9)
"""Up to the fastest Ethernet that there is a standard for (IEEE 802.3dj, 1.6 Tbps)."""
DELAY = Within(0, _S)
MTU = Within(576, 65_535)
BUFFER_BYTES = Within(1, 2 * 10**9)
"""tc's limits are signed 32-bit numbers (include/uapi/linux/pkt_sched.h)."""

# Hosts
RTO_US = Within(_MS // _US, 120_000 * _MS // _US)
"""The timer ticks once a millisecond; TCP_RTO_MAX, include/net/tcp.h."""
SEGMENTS = Within(1, 65_535)
SOCKET_BUFFER_BYTES = Within(4096, 2 * 10**9)
"""From one page: SK_MEM_QUANTUM, the first value of tcp_rmem and tcp_wmem (Documentation/networking/ip-sysctl.rst)."""
TIMESTAMP_ERROR = Within(0, _MS)
"""tcp_delay_error_max of the kernel's patch 0070."""
ENDPOINTS = Within(0, 8)
"""The kernel has 8 endpoints of MPTCP (MPTCP_PM_ADDR_MAX)."""
SUBFLOWS = Within(1, 8)
TSO_BYTES = Within(3000, 65_536)
INTERRUPT_DELAY_US = Within(0, 10_000)
CLOCK_PPB = Within(-100_000, 100_000)
"""What IEEE 802.3 allows a transmit clock."""
TX_QUEUES = Within(1, 8)
RECEIVE_QUEUES = Within(1, 64)
BUCKET_BYTES = Within(1, 1_000_000)
PACER_INTERVAL = Within(1_000, 10_000_000)
PACER_IDLE = Within(0, _S)
BETA = Within(0, 10_000)
LIMITER_RATE = Within(8_000, 10**12)
CYCLE_BYTES = Within(1_000, 10**9)
CYCLE_TIME = Within(1_000, _S)
DSCP = Within(0, LARGEST_DSCP)
ROCE_WINDOW = Within(1, 1 << 22)
"""ROCE_WINDOW_MAX of the kernel's `switch_port`: a quarter of the numbers of 24 bits that packets have."""
ROCE_SELECTIVE_WINDOW = Within(1, 1 << 12)
"""ROCE_SELECTIVE_WINDOW of the kernel's `switch_port`: the packets that selective repeat remembers."""
ROCE_REORDER = Within(0, ROCE_SELECTIVE_WINDOW.most - 1)
ROCE_READS = Within(1, 255)
"""`max_rd_atomic` of struct ibv_qp_attr has 8 bits."""
ROCE_RETRIES = Within(0, 7)
"""Three bits (InfiniBand Architecture Specification, retry_cnt)."""
ROCE_TIMEOUT = Within(1_000, 10 * _S)
CNP_INTERVAL = Within(0, _S)
RECOVERY_CYCLES = Within(1, 1_000)
ROCE_DELAY = Within(0, _S)
CONTROL_PPM = Within(1, 10**6)
HPCC_STAGES = Within(0, 1_000)
HPCC_BASE_RTT = Within(1_000, 10 * _MS)

# Switches with a shared buffer
MEMORY_BYTES = Within(0, 10**15)
"""What may be written, 1 TB, times the largest scale: far below what the kernel counts in."""
CELL_BYTES = Within(1, 32_767)
ALPHA_LOG = Within(-8, 7)
"""SAI's dynamic_th (saibuffer.h; SONiC's sonic-buffer-profile.yang)."""
QUEUE = Within(0, QUEUES - 1)
WEIGHT = Within(1, 100)
SERVED_RATE = Within(0, 1_600 * 10**9)
"""0: no guarantee, or the line's own rate."""
BURST_BYTES = Within(0, 2 * 10**9)
LENGTH = Within(0, 10**12)
"""Of a queue: bytes, or nanoseconds that a frame has waited."""
WEIGHT_LOG = Within(0, 15)
SET_POINT_BYTES = Within(1, 10**9)
SAMPLE_BYTES = Within(10_000, 10**9)
CREDIT_FIRST = Within(1, 2**32 - 1)
QCN_WEIGHT = Within(0, 1024)
TRIMMED_BYTES = Within(64, 65_535)
"""SWITCH_TRIM_LEAST and _MOST of the kernel's `switch_port`."""
DRAIN_INTERVAL = Within(1_000, _S)
CONGESTED_BYTES = Within(1, 10**9)
QUANTA = Within(2, 65_535)
REACTION = Within(0, _S)
WATCH = Within(1_000, 60 * _S)
SLICES = Within(1, 4)
SLICE = Within(0, 3)
PHANTOM_RATE = Within(1, 1_600 * 10**9)

# Routing
ASN = Within(1, 2**32 - 2)
TIMER_S = Within(0, 65_535)
"""RFC 4271, section 4.2."""
PATHS = Within(1, 256)
HASH_SEED = Within(1, 2**32 - 1)
"""0 means random to the kernel (net.ipv4.fib_multipath_hash_seed)."""
HASH_FIELDS = Within(1, 0xFFF)
IDLE_TIME = Within(1_000, _S)
FLOWLETS = Within(1, 1 << 20)
"""LB_MOST_FLOWS of the kernel's `load_balancing.c`."""
PORT_LOAD = Within(0, 2**32 - 1)
BFD_INTERVAL = Within(10 * _MS, 60 * _S)
MISSED = Within(2, 255)
CONVERGENCE = Within(_MS, 3600 * _S)
STILL = Within(100 * _MS, 600 * _S)
DISTANCE = Within(0, 255)
SEQUENCE = Within(1, 2**32 - 1)
"""Of an entry of a list or a map."""
PREFIX_LENGTH = Within(0, 128)
METRIC = Within(0, 2**32 - 1)
ROUTE_WEIGHT = Within(0, 65_535)
OWN_AS = Within(0, 10)
UINT8 = Within(0, 255)
UINT16 = Within(0, 65_535)
ETHER_TYPE = Within(0x0600, 0xFFFF)
VLAN = Within(1, 4094)

# Probes
PROBE_INTERVAL = Within(10_000, _S)
EACH_CHANGE_NS = 0
"""The interval of queues of which each change is recorded."""
SNAPLEN = Within(64, 65_536)
FILE_LIMIT = Within(1_000_000, 10**12)

# Programs and clusters
STATUS = Within(0, 255)
TCP_PORT = Within(1, 65_535)
TRIES = Within(1, 36_000)
ORDER = Within(0, 100_000)
SLOTS = Within(1, 64)
REPLICAS = Within(1, 10_000)
BLOCK_BYTES = Within(1 << 20, 1 << 31)
DISK_BYTES = Within(1 << 20, 1 << 40)
JOB_BYTES = Within(1000, 1 << 40)
DISK_RATE = Within(0, 10**15)
CACHE_BYTES = Within(0, 1 << 54)

# Flow sizes
POINT_BYTES = Within(0, 2**62)
