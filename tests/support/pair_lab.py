"""The smallest lab: two hosts on a switch, one sends to the other."""

TOPOLOGY = """\
name: pair
topology:
  nodes:
    s1: {kind: linux, labels: {fabriclab.role: switch}}
    h1: {kind: linux}
    h2: {kind: linux}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps}}
"""
EXPERIMENT = """\
title: a pair
switches: {default: {buffer: 64 KB}}
traffic: {one: {kind: rounds, senders: 1, receiver: h2, size: 10 KB, rounds: 1}}
parameters: {rounds: traffic.one.rounds}
"""
