"""Texts of labs that are written to be fuzzed: a trace, a profile of a switch, layer 2 and every kind of traffic."""

from __future__ import annotations

TRACE = """# fabriclab-trace-1
\
flow,start_ns,src,dst,size_bytes,stop_ns,mode,request_bytes,connection,group,after,class,transport,congestion_control,dscp,deadline_ns
0,0,h1,client,262144,,pull,,c0,r0,,sru,,,,
1,0,h2,client,262144,,pull,,c1,r0,,sru,,,,
2,0,h1,client,262144,,pull,,c0,r1,r0,sru,,,,
3,5000000,h3,h4,,2000000000,push,,,,,long,tcp,cubic,8,
"""
SIZES = "# source: nowhere\n1000 0\n2000 0.3\n5000 0.7\n30000 1\n"
TRACE_LAB = """
title: A trace
switches: {default: {buffer: 64 KB, ecn_threshold: 30 KB}}
traffic:
  mine: {kind: trace, file: mine.csv}
  drawn: {kind: arrivals, senders: [h1, h2], receivers: [h3, h4], size: sizes.txt, load: 10 %, stop: 20 ms}
  cut: {kind: arrivals, senders: [h1], receivers: [h2], size: {distribution: sizes.txt, cap: 4 KB}, interval: 1 ms, \
stop: 10 ms}
probes: {queues: {interval: 100 us, ports: all}, tcp: {interval: 1 ms, traffic: [drawn]}}
"""
PROFILE_LAB = """
title: A profile of its own
switches:
  default:
    profile: mine
    scale: bandwidth
    maps: {dscp_to_tc: {0..63: 1, 3: 3, 4: 4, ef: 5}, tc_to_group: {0..6: 0, 3: 3, 4: 4}}
    queues: {default: {wred: {min: 30 KB, max: 60 KB, probability: 50 %}}, 3..4: {wred: none}, 5: {scheduler: strict}}
    priority_groups: {3..4: {lossless: true, headroom: auto}}
    pfc: {priorities: [3, 4], watchdog: {detection: 200 ms, action: drop}}
    ports: {eth1..eth2: {queues: {1: {alpha: 1/4}}}}
traffic:
  one: {kind: rounds, senders: 4, receiver: client, size: 256 KB, rounds: 2}
  bulk: {kind: long, senders: [h1, h2], receiver: h3, stop: 1 s, dscp: cs3}
events:
  cut: {at: 100 ms, link: 's1:eth1', action: down}
  storm: {at: 50 ms, node: h4, action: pause-storm, priorities: [3], until: 60 ms}
probes: {switches: {interval: 10 ms, ports: all}}
"""
LAYERED = """
name: layers
topology:
  defaults: {kind: linux, labels: {fabriclab.role: switch}}
  kinds: {linux: {image: 'fabriclab/host:latest', labels: {fabriclab.role: host}}}
  groups: {fabric: {labels: {fabriclab.role: switch, fabriclab.tier: 1}}, leaf: {labels: {fabriclab.role: switch, \
fabriclab.tier: 2}}}
  nodes:
    spine1: {group: fabric, labels: {fabriclab.asn: 65000, fabriclab.loopback: 10.255.0.1}}
    spine2: {group: fabric, labels: {fabriclab.asn: 65000, fabriclab.loopback: 10.255.0.2}}
    leaf1: {group: leaf, exec: [ls], binds: ['/x:/y']}
    leaf2: {group: leaf}
    a: {kind: linux}
    b: {kind: linux}
    c:
      kind: linux
  links:
    - {endpoints: ['leaf1:eth1', 'spine1:eth1'], vars: {rate: 10 Gbps, delay: 1 us}, mtu: 9000}
    - {endpoints: ['leaf1:eth2', 'spine2:eth1'], vars: {rate: 10 Gbps, delay: 1 us}, mtu: 9000}
    - {endpoints: ['leaf2:eth1', 'spine1:eth2'], vars: {rate: 10 Gbps, delay: 1 us}, mtu: 9000}
    - {endpoints: ['leaf2:eth2', 'spine2:eth2'], vars: {rate: 10 Gbps, delay: 1 us}, mtu: 9000}
    - {endpoints: ['a:eth1', 'leaf1:eth3'], vars: {rate: 1 Gbps}, ipv4: [10.1.0.1/31, 10.1.0.0/31]}
    - type: veth
      endpoints:
        - {node: b, interface: eth1, mac: '02:00:00:00:00:02', ipv4: 10.1.0.3/31, vars: {rate: 1 Gbps}}
        - {node: leaf1, interface: eth4, vars: {rate: 1 Gbps, delay: 3 us}}
      vars: {rate: 1 Gbps, delay: 25 us}
    - {endpoints: ['c:eth1', 'leaf2:eth3'], vars: {rate: 1 Gbps}}
"""
EVERY_TRAFFIC = """
title: Everything
links: {mtu: 1500}
groups:
  drawn: {share: 67 %}
  others: rest
  probing: {count: 1, of: [a, b]}
  left: {rack: leaf1}
switches:
  default: {buffer: 64 KB, aqm: {kind: fq_codel, target: 1 ms, ecn: true}}
  leaf1: {buffer: 128 KB, aqm: none, ecn_threshold: 20 KB}
routing: {protocol: bgp-unnumbered, bfd: 50 ms, keepalive: 1 s, hold: 3 s}
hosts:
  default: {congestion_control: dctcp, rto_min: 10 ms, mptcp: {subflows: 2, path_manager: fullmesh}}
  left: {congestion_control: cubic, ecn: accept, window_limit: 4}
traffic:
  bulk: {kind: long, senders: [a], receiver: c, start: 1 ms, stop: 1 s, transport: mptcp}
  web: {kind: arrivals, senders: all, receivers: all, size: web-search, load: 5 %, stop: 20 ms}
  some: {kind: flows, senders: 2, receiver: c, size: 10 KB, count: 2, interval: 5 ms, jitter: 1 ms}
  burst: {kind: arrivals, senders: drawn, size: 2 KB .. 16 KB, interval: 5 ms, arrival: bursty, burst: 3, \
stop: 20 ms, deadline: 20 ms}
  ask: {kind: query, aggregators: [c], workers: [a, b], response: 2 KB, interval: 10 ms, stop: 50 ms, \
deadline: 20 ms, dscp: ef}
  job: {kind: shuffle, mappers: [a, b], reducers: [c], size: 1 MB, replicas: 2}
  perf: {kind: iperf3, senders: [b], receiver: c, stop: 1 s}
  serve: {kind: program, node: a, argv: [nc, -l, '80'], serves: true, packages: [netcat-openbsd], \
memory: 10 MB}
  fetch: {kind: program, node: b, argv: nc a 80, after: ['serve:80'], status: 1, environment: {A: b}, output: c.txt, \
start: 1 ms, stop: 1 s}
  sru: {kind: rounds, senders: 2, receiver: c, size: 64 KB, rounds: 2, connection: kept}
events:
  cut: {at: 100 ms, link: 'leaf1:eth1', action: down}
  back: {at: 200 ms, link: 'leaf1:eth1', action: up}
  slow: {at: 150 ms, link: 'leaf2:eth1', rate: 1 Gbps, loss: 0.1 %}
  gone: {at: 300 ms, node: spine2, action: down}
probes: {queues: {interval: 100 us, ports: ['leaf1:eth3']}, tcp: {interval: 1 ms, traffic: [bulk, web]}, \
interfaces: {interval: 10 ms}}
parameters: {buffer: switches.default.buffer, control: [hosts.default.congestion_control]}
variants:
  one: {hosts.default.congestion_control: reno}
  two: {switches.default.buffer: 32 KB}
matrix:
  demo: {variant: [one, two], buffer: [64 KB, 128 KB], seed: 1..2}
checks:
  - {metric: goodput_bps, operator: '>=', value: 1 bps, where: {buffer: 64 KB}}
report:
  figures: [{kind: metric, metric: goodput_bps, x: buffer}, {kind: slowdown, traffic: [web], bins: [10 KB, 1 MB]}]
validation: {queues: {ef: 5}, mtu: 1500, failure: {action: blackhole, recovery: 300 ms}}
"""
