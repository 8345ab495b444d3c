"""netlab's tests that run commands and change the lab: what they come to here, in their order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabriclab.other_labs.netlab_tests import NetlabTests, netlab_tests

INVENTORY = """\
all: {hosts: {}}
frr: {hosts: {r1: {ansible_host: a, id: 1}, r2: {ansible_host: b, id: 2}}}
linux: {hosts: {h1: {ansible_host: c, id: 3}}}
probes: {hosts: {r1: {}}}
"""
VARIABLES: dict[str, dict[str, Any]] = {
    "r1": {"ldp": {"router_id": "10.0.0.1"}, "interfaces": [{"ifname": "eth1", "ipv4": "10.1.0.1/30"}]},
    "r2": {"ldp": {"router_id": "10.0.0.2"}, "interfaces": [{"ifname": "eth2", "ipv4": "10.1.0.2/30"}]},
    "h1": {"interfaces": [{"ifname": "eth1", "gateway": {"ipv4": "10.2.0.1/24"}}]},
}


def read(directory: Path, tests: str) -> NetlabTests:
    for name, variables in VARIABLES.items():
        (directory / "host_vars" / name).mkdir(parents=True, exist_ok=True)
        (directory / "host_vars" / name / "topology.json").write_text(json.dumps(variables))
    (directory / "hosts.yml").write_text(INVENTORY)
    (directory / "topology.yml").write_text(f"validate:\n{tests}")
    return netlab_tests(directory, ("r1", "r2", "h1"))


def test_what_daemons_show_is_asked_in_their_shell(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """\
  ldp:
    wait: 30
    nodes: [ r1, r2 ]
    show: {frr: 'mpls ldp neighbor {{ hostvars.r2.ldp.router_id }} json', eos: mpls ldp}
    valid: |
      neighbors[0].state == 'OPERATIONAL'
  arp:
    nodes: [ h1 ]
    exec: arp -n {{ interfaces[0].gateway.ipv4|ipaddr('address') }}
    valid: "'02:00' in stdout"
""",
    )
    assert found.left == [] and found.asked == ["ldp", "arp"] and found.wait_s == 30
    assert found.wanted == {
        "answers": {
            "ldp": {
                "on": ["r1", "r2"],
                "run": "vtysh -c 'show mpls ldp neighbor 10.0.0.2 json'",
                "holds": "neighbors[0].state == 'OPERATIONAL'",
            },
            "arp": {"on": ["h1"], "run": "arp -n 10.2.0.1", "holds": "'02:00' in stdout"},
        }
    }


def test_a_change_and_what_follows_are_a_step(tmp_path: Path) -> None:
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "frr.j2").write_text("#!/bin/bash\nip link set {{ interfaces[0].ifname }} {{ state }}\n")
    (tmp_path / "prio.j2").write_text("interface {{ interfaces[0].ifname }}\n vrrp 1 priority {{ value|default(9) }}\n")
    found = read(
        tmp_path,
        """\
  before: {nodes: [ h1 ], plugin: "ping('r1')"}
  down: {nodes: [ r1, r2 ], config: {template: cut, variable.state: down}}
  settle: {wait: 7}
  after: {nodes: [ h1 ], wait: 10, plugin: "ping('r1',expect='fail')"}
  prio: {nodes: [ r2 ], config: {template: prio, variable: {value: 20}}}
  sysctl: {nodes: [ h1 ], exec: sysctl -w net.ipv4.ip_forward=1}
""",
    )
    assert found.left == [] and found.asked == ["before", "down", "after", "prio", "sysctl"] and found.wait_s == 0
    assert list(found.wanted["pings"]) == ["before"]
    steps = found.wanted["steps"]
    assert list(steps) == ["down", "down-2", "prio", "sysctl"]
    assert "ip link set eth1 down" in steps["down"]["run"] and "ip link set eth2 down" in steps["down-2"]["run"]
    assert steps["down"]["run"].endswith("; sh /tmp/netlab-config")
    assert steps["down"] == {"on": ["r1"], "run": steps["down"]["run"], "wait": "0 s"}
    assert steps["down-2"]["wait"] == "12 s", "5 s after a change, and 7 s that netlab waits"
    assert steps["down-2"]["pings"] == {"after": {"from": ["h1"], "to": "r1", "answers": False}}
    assert "vrrp 1 priority 20" in steps["prio"]["run"]
    assert steps["prio"]["run"].endswith("; vtysh -f /tmp/netlab-config")
    assert steps["sysctl"] == {"on": ["h1"], "run": "sysctl -w net.ipv4.ip_forward=1", "wait": "5 s"}


def test_what_follows_a_change_that_cannot_be_made_is_not_asked(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """\
  strange: {nodes: [ r1 ], show: {eos: vrrp}, valid: x == 1}
  script: {nodes: [ h1 ], exec: "{% include '/etc/passwd' %}{{ a }}"}
  after: {nodes: [ h1 ], plugin: "ping('r1')"}
  power: {nodes: [ r1 ], show: ip route json, valid: "2 ** 9 == 1"}
""",
    )
    assert found.wanted == {} and found.left == [
        "2: strange (nothing for device frr (r1))",
        "3: script (line 1: Include is not let)",
        "4: after (it follows script, which changes the lab)",
        "5: power (it follows script, which changes the lab)",
    ]


def test_a_template_outside_the_lab_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.j2").write_text("hostname secret\n")
    lab = tmp_path / "lab"
    lab.mkdir()
    found = read(lab, "  up: {nodes: [ r1 ], config: ../secret}\n")
    assert found.wanted == {} and "the template ../secret for r1 is not beside the lab" in found.left[0]
