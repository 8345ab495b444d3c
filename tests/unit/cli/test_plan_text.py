"""A plan in words: every kind of traffic with what is computed for it, the groups, and what to mind."""

from __future__ import annotations

from pathlib import Path

from language import plan_of

from fabriclab.cli.text.plan import plan_text

EVERY_KIND = """groups: {background: [h1, h2]}
traffic:
  incast: {kind: rounds, senders: 3, receiver: h8, size: 64 KB, rounds: 1, jitter: 1 ms}
  bulk: {kind: long, senders: background, pairs: permutation, transport: mptcp, stop: 2 s}
  paced: {kind: flows, senders: [h3], receiver: h4, size: 1 KB, count: 5, interval: 10 ms}
  web: {kind: arrivals, senders: all, size: {distribution: web-search, cap: 10 MB}, load: 40 %, stop: 10 s, dscp: ef, \
deadline: 20 ms}
  bursts: {kind: arrivals, senders: [h1], size: 2 KB .. 16 KB, arrival: bursty, burst: 8, interval: 1 ms, start: 1 s, \
stop: 2 s}
  ask: {kind: query, aggregators: [h1], response: 2 KB, arrival: fixed, interval: 100 ms, jitter: 10 ms, stop: 10 s}
  job: {kind: shuffle, mappers: h1..h4, reducers: [h5, h6], size: 8 MB, replicas: 2, congestion_control: dctcp}
  perf: {kind: iperf3, senders: 1, receiver: h8, stop: 3 s}
"""
TEXT = """racks: T
  8 hosts, 2 switches, 9 links
  seed 1; ends at 70.01 s at the latest
groups:
  background (2 hosts): h1, h2
traffic:
  incast (rounds): 3 hosts to h8, over tcp
    1 round of 64 KB from each, from 0 s on, each up to 1 ms later
  bulk (long): 2 hosts to 8 hosts, permutation, over mptcp
    long flows, 0 s to 2 s, each up to 50 us later
  paced (flows): h3 to h4, over tcp
    5 flows of 1 KB from each, one each 10 ms, from 0 s on, each up to 50 us later
  web (arrivals): 8 hosts to 8 hosts, random, over tcp, DSCP 46
    sizes: web-search CAPPED at 10 MB (linear between points); mean 1.411 MB
      the cap keeps 82.5% of the bytes (the mean without it is 1.711 MB): say so with every result
    poisson, one flow each 28.225 ms of each sender = 8 x 1411250 B / (0.4 x 1 Gbps)
    0 s to 10 s: about 2,834 flows and 4 GB, 40 % of a sender's line; deadline 20 ms
  bursts (arrivals): h1 to 8 hosts, random, over tcp
    sizes: uniform, 2 KB to 16 KB; mean 9 KB
    bursty, 8 at a time, one flow each 1 ms of each sender
    1 s to 2 s: about 1,000 flows and 9 MB, 7.2 % of a sender's line
  ask (query): h1 asks 7 of 8 hosts, over tcp
    sizes: 2 KB each
    fixed, one query each 100 ms of each aggregator, request 1.6 KB, each up to 10 ms later
    0 s to 10 s: about 100 queries, 700 flows; connections kept
  job (shuffle): 4 mappers, 2 reducers, over tcp with dctcp
    8 MB read from the mappers' own disks, from 0 s on
    partitions of 1 MB, 5 at a time for each reducer; 2 copies of the output
  perf (iperf3): h1 to h8, over tcp
    sent by iperf3, 0 s to 3 s
note: traffic.bulk runs over MPTCP, but 8 of 8 hosts have no `mptcp` section: their connections have one subflow
note: traffic.job runs over DCTCP, but no switch has an ecn_threshold: nothing is marked, so DCTCP behaves like Reno
The whole plan: --json; the commands of one node: --node NAME.
"""


def test_every_kind_of_traffic_in_words(tmp_path: Path) -> None:
    assert plan_text(plan_of(tmp_path, EVERY_KIND)) == TEXT
