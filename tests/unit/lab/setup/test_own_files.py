"""What nodes' own files do: Containerlab's keys as they are read, what they come to in a plan and in its job, and what
is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fabriclab.api.kept_lab import kept_files
from fabriclab.api.lab import Lab, load_lab
from fabriclab.api.look import plan
from fabriclab.cli.app import app
from fabriclab.compile import compile_job, compile_node
from fabriclab.formats.plan import Plan, plan_json
from fabriclab.formats.plan.setup import NodeFile
from fabriclab.lab import LabError
from fabriclab.lab.setup.frr import OLDER_DEFAULTS, frr_daemons, of_older_routers, starts_frr
from fabriclab.runs.directory import write_inputs

DAEMONS = """# which run
zebra=no
bgpd=yes
ospfd=yes
ospfd_instances="1, 2"
isisd=no
bgpd_options="   --daemon -A 127.0.0.1 -M rpki"  # in the foreground here
frr_profile="datacenter"
"""
TOPOLOGY = """name: own
topology:
  defaults: {kind: linux}
  groups:
    routers:
      image: quay.io/frrouting/frr:10.3.1
      env: {A: group, B: group}
      exec: [touch /group]
  nodes:
    r1:
      group: routers
      binds: ['r1/daemons:/etc/frr/daemons', 'r1/frr.conf:/etc/frr/frr.conf:ro']
      env: {A: node}
      sysctls: {net.ipv4.ip_default_ttl: 77}
    h1:
      exec: [ip addr add 10.0.1.2/24 dev eth1, "sh -c 'echo a b'"]
      cmd: /usr/bin/sleep 9
      stages: {create: {wait-for: [{node: r1, stage: healthy}]}, configure: {exec: [{command: touch /after}]}}
    h2:
      exec: [ip addr add 10.0.2.2/24 dev eth1]
      cmd: bash
  links:
    - endpoints: [h1:eth1, r1:eth1]
    - endpoints: [h2:eth1, r1:eth2]
"""
HEALTHY = "healthcheck: {test: [CMD-SHELL, 'test -e /group'], interval: 2, timeout: 1, retries: 2, start-period: 3}"


def write(directory: Path, topology: str = TOPOLOGY, health: str = HEALTHY) -> Path:
    files = {"r1/daemons": DAEMONS, "r1/frr.conf": "hostname r1\n"}
    for name, text in files.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    file = directory / "own.clab.yml"
    file.write_text(topology.replace("      sysctls:", f"      {health}\n      sysctls:"))
    return file


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return write(tmp_path)


def planned(file: Path, **settings: str) -> Plan:
    return plan(file, set=settings)


def mistakes(file: Path) -> list[str]:
    with pytest.raises(LabError) as raised:
        load_lab(file)
    return str(raised.value).replace(f"{file.parent}/", "").splitlines()


def steps_of(made: Plan, *, stock: bool = False) -> list[tuple[str, str]]:
    job: Any = compile_job(made, stock=stock)
    return [(step["kind"], step["program"]["name"]) for step in job["setup"]]


def test_layers_are_merged_as_containerlab_merges_them(own: Path) -> None:
    setup = planned(own).node("r1").setup
    assert setup is not None
    assert setup.environment == {"A": "node", "B": "group"}
    assert [command.argv for command in setup.commands] == [("touch", "/group")]
    assert {file.path: file.text for file in setup.files} == {
        "/etc/frr/daemons": DAEMONS,
        "/etc/frr/frr.conf": "hostname r1\n",
    }


def test_frr_starts_what_its_own_file_says() -> None:
    started = {one.name: one.argv for one in frr_daemons([NodeFile(path="/etc/frr/daemons", text=DAEMONS)])}
    assert list(started) == ["mgmtd", "zebra", "bgpd", "ospfd-1", "ospfd-2", "staticd"]
    log = ("--log", "stdout", "--log-level", "informational")
    assert started["bgpd"] == ("/usr/lib/frr/bgpd", "-A", "127.0.0.1", "-M", "rpki", "-F", "datacenter", *log)
    assert started["ospfd-2"][1:3] == ("-n", "2")


def test_steps_are_in_the_order_of_containerlab(own: Path) -> None:
    steps = steps_of(planned(own))
    starting = ["frr-directories@r1", "mgmtd@r1", "zebra@r1", "bgpd@r1", "ospfd-1@r1", "ospfd-2@r1", "staticd@r1"]
    assert [name for _, name in steps] == [
        *starting,
        *("vtysh@r1", "exec-1@r1", "health-start@r1", "health@r1"),
        *("main@h1", "exec-1@h1", "exec-2@h1", "configure-1@h1", "exec-1@h2"),
    ]
    assert [kind for kind, name in steps if name in ("mgmtd@r1", "main@h1", "health@r1")] == [
        "daemon",
        "health",
        "main",
    ]


def test_routing_is_then_as_configured(own: Path) -> None:
    made = planned(own)
    assert made.bgp is None and made.configured is not None
    assert made.configured.still_ns == 50 * 10**9, "OSPF waits for a designated router"
    soon = planned(own, **{"routing.still": "2 s"}).configured
    assert soon is not None and soon.still_ns == 2 * 10**9
    assert all(not node.routes and port.address is None for node in made.nodes for port in node.ports)
    job: Any = compile_job(made)
    assert job["still"]["addresses"] == {"file": "traffic/hosts.csv", "nodes": ["h1", "h2"], "others": ["r1"]}
    assert json.loads(plan_json(made))["configured"]["still_ns"] == 50 * 10**9


def test_in_containers_containerlab_does_its_own_part(own: Path) -> None:
    made = planned(own)
    assert "setup" not in compile_job(made, stock=True)
    assert compile_node(made.node("r1"), made, stock=True).root == {}
    assert set(compile_node(made.node("r1"), made).root) == {"etc/frr/daemons", "etc/frr/frr.conf"}


def test_a_startup_config_is_frrs_where_none_is_bound(tmp_path: Path) -> None:
    text = TOPOLOGY.replace(", 'r1/frr.conf:/etc/frr/frr.conf:ro'", "").replace(
        "      env: {A: node}", "      startup-config: r1/frr.conf"
    )
    made = planned(write(tmp_path, text))
    assert "etc/frr/frr.conf" in compile_node(made.node("r1"), made, stock=True).root, "it is copied in"
    assert steps_of(made, stock=True) == [("command", "vtysh@r1")]
    assert any("startup-config is FRR's /etc/frr/frr.conf here" in warning for warning in made.warnings)


def test_what_was_made_up_is_said(own: Path) -> None:
    result = CliRunner().invoke(app, ["check", str(own)])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "2 links without a rate: 10 Gbps, 5 us each way" in said
    assert "traffic is made up: each of 2 hosts asks another one" in said


def test_a_run_and_a_new_lab_have_the_files_that_nodes_bind(own: Path, tmp_path: Path) -> None:
    kept = kept_files(load_lab(own).written)
    assert sorted(kept) == ["experiment.yml", "r1/daemons", "r1/frr.conf", "topology.clab.yml"]
    result = CliRunner().invoke(app, ["new", str(tmp_path / "mine"), "--from", str(own)])
    assert result.exit_code == 0, result.output
    mine = load_lab(tmp_path / "mine")
    copied, original = (one.node("r1").setup for one in (plan(mine), planned(own)))
    assert mine.name == "mine" and copied is not None and original is not None
    assert copied.files == original.files and copied.daemons == original.daemons


def test_a_file_that_is_no_text_is_bound_byte_by_byte(tmp_path: Path) -> None:
    logo = bytes(range(256))
    own = write(tmp_path, TOPOLOGY.replace("cmd: bash", "binds: ['logo.png:/srv/logo.png', 'tool:/bin/tool']"))
    (own.parent / "logo.png").write_bytes(logo)
    (own.parent / "tool").write_bytes(b"\x7fELF\xff")
    (own.parent / "tool").chmod(0o755)
    made = plan(own)
    files = compile_node(made.node("h2"), made)
    assert dict(files.binaries) == {"srv/logo.png": logo, "bin/tool": b"\x7fELF\xff"}
    assert files.executables == {"bin/tool"}
    assert kept_files(load_lab(own).written)["logo.png"] == logo
    write_inputs(made, own.parent, tmp_path / "run")
    assert (tmp_path / "run/nodes/h2/root/srv/logo.png").read_bytes() == logo
    assert (tmp_path / "run/nodes/h2/root/bin/tool").stat().st_mode & 0o111


def test_what_frr_reads_is_text(tmp_path: Path) -> None:
    own = write(tmp_path)
    (own.parent / "r1/frr.conf").write_bytes(b"hostname \xff\n")
    with pytest.raises(
        LabError, match=r"topology\.nodes\.r1\.binds\[1\]: 'r1/frr\.conf' is not text \(UTF-8\), but FRR"
    ):
        load_lab(own)


def test_routers_alone_have_no_traffic(tmp_path: Path) -> None:
    text = "name: two\ntopology:\n  nodes:\n" + "".join(
        f"    r{number}: {{kind: linux, image: frrouting/frr}}\n" for number in (1, 2)
    )
    made = planned(write(tmp_path, text + "  links: [{endpoints: ['r1:eth1', 'r2:eth1']}]\n"))
    assert made.traffic == () and [node.role for node in made.nodes] == ["switch", "switch"]


def test_a_bridge_is_one_broadcast_domain(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("  links:", "    br: {kind: bridge}\n  links:").replace(
        "[h2:eth1, r1:eth2]", "[h2:eth1, br:h2]"
    )
    text += "    - endpoints: [r1:eth2, br:r1]\n"
    made = planned(write(tmp_path, text))
    assert "link set dev h2 master br0" in compile_node(made.node("br"), made).ip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "'r1/daemons:/etc/frr/daemons'",
            "'r1/demons:/etc/frr/daemons'",
            "own.clab.yml:12: topology.nodes.r1.binds[0]: 'r1/demons': no such file; a bind names a file beside the "
            "topology",
        ),
        (
            "'r1/daemons:/etc/frr/daemons'",
            "'../x:/etc/frr/daemons'",
            "own.clab.yml:12: topology.nodes.r1.binds[0]: '../x' lies outside the lab's directory",
        ),
        (
            "r1/frr.conf:/etc/frr/frr.conf:ro",
            "r1/frr.conf:etc/frr.conf",
            "own.clab.yml:12: topology.nodes.r1.binds[1]: 'etc/frr.conf' is not an absolute path in the node, such as "
            "/etc/frr/frr.conf",
        ),
        (
            "sh -c 'echo a b'",
            "sh -c 'echo",
            'topology.nodes.h1.exec[1]: "sh -c \'echo" cannot be split into words: no closing quotation',
        ),
        ("node: r1, stage: healthy", "node: r9, stage: healthy", "'r9' is not a node; valid here: r1, h1, h2"),
        ("stage: healthy", "stage: helthy", "'helthy' is unknown; did you mean 'healthy'?"),
        (HEALTHY, "cpu: 1", "r1 has no healthcheck, and would be waited for without end"),
        ("      exec: [ip addr add 10.0.2.2/24 dev eth1]", "      exec: ls", "h2.exec: is not a list; write exec: ["),
        (
            "      cmd: bash",
            "      stages: {create: {wait-for: [{node: h2, stage: configure}]}}",
            "h2 wait for each other; one of them must not wait",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = write(tmp_path)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    assert any(message in line for line in mistakes(file)), mistakes(file)


def lab(directory: Path, experiment: str) -> Lab:
    file = write(directory)
    file.rename(directory / "topology.clab.yml")
    (directory / "experiment.yml").write_text(
        "title: T\nlinks: {rate: 1 Gbps}\nswitches: {default: {buffer: 64 KB}}\n"
        "traffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}\n" + experiment
    )
    return load_lab(directory)


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        (
            "routing: {protocol: bgp-unnumbered}",
            "routing.protocol: r1: the node's own files configure FRR",
        ),
        ("hosts: {default: {mptcp: {subflows: 2}}}", "mptcp: needs addresses that the lab gives"),
        ("hosts: {h1: {initial_window: 4}}", "hosts.h1.initial_window: needs addresses and routes that the lab gives"),
        ("routing: {still: 9 s, convergence_limit: 5 s}", "convergence_limit is less than still"),
    ],
)
def test_what_needs_the_labs_own_addresses_is_refused(tmp_path: Path, experiment: str, message: str) -> None:
    with pytest.raises(LabError) as raised:
        plan(lab(tmp_path, experiment))
    assert message in str(raised.value)


def netlab(directory: Path) -> Path:
    """Write a lab as netlab does: two hosts whose scripts it runs in their namespaces, and its own validation."""
    nodes = "".join(f"    {name}: {{kind: linux, image: 'python:3.13-alpine'}}\n" for name in ("h1", "h2"))
    file = directory / "clab.yml"
    file.write_text(f"name: n\ntopology:\n  nodes:\n{nodes}  links: [{{endpoints: ['h1:eth1', 'h2:eth1']}}]\n")
    for number, name in enumerate(("h1", "h2"), 1):
        for folder, leaf, text in (
            (f"node_files/{name}", "initial", f"ip addr add 10.0.0.{number}/24 dev eth1\n"),
            (
                f"host_vars/{name}",
                "topology.json",
                json.dumps(
                    {
                        "clab": {
                            "config_templates": [
                                {"source": "initial", "target": "", "mode": "ns"},
                                {"source": "hosts", "target": "/etc/hosts", "mode": "shared"},
                            ]
                        }
                    }
                ),
            ),
        ):
            (directory / folder).mkdir(parents=True)
            (directory / folder / leaf).write_text(text)
    (directory / "topology.yml").write_text(
        "validate:\n"
        "  there: {nodes: [h1], plugin: \"ping('h2',af='ipv4')\"}\n"
        "  apart: {nodes: [h2], plugin: \"ping('h1',expect='fail')\"}\n"
        "  other: {nodes: [h1], plugin: \"bgp_neighbor(node.bgp.neighbors,'dut')\"}\n"
        "  strange: {nodes: [h1], plugin: \"ping(__import__('os').system('x'))\"}\n"
    )
    return file


def test_netlabs_scripts_follow_and_its_pings_are_what_is_wanted(tmp_path: Path) -> None:
    file = netlab(tmp_path)
    made = planned(file)
    assert steps_of(made) == steps_of(made, stock=True) == [("command", f"netlab-initial@h{n}") for n in (1, 2)]
    files = compile_node(made.node("h1"), made)
    assert files.root == {"run/netlab/01-initial.sh": "ip addr add 10.0.0.1/24 dev eth1\n"}
    assert files.executables == {"run/netlab/01-initial.sh"}
    pings = load_lab(file).written.experiment.validation.pings
    assert [(ping.name, ping.senders, ping.target, ping.family, ping.answers) for ping in pings] == [
        ("there", ("h1",), "h2", 4, True),
        ("apart", ("h2",), "h1", None, False),
    ]
    assert [(traffic.name, traffic.kind) for traffic in made.traffic] == [("ping-1", "flows")]


def test_a_script_that_netlab_did_not_write_is_named(tmp_path: Path) -> None:
    file = netlab(tmp_path)
    (tmp_path / "node_files/h2/initial").unlink()
    assert mistakes(file) == [
        "clab.yml:5: topology.nodes.h2: netlab's script node_files/h2/initial: no such file; run netlab create again"
    ]


def test_of_a_link_that_dies_one_end_goes_down(tmp_path: Path) -> None:
    """The kernel forgets the routes of an interface that is set down: a host's nobody could restore."""
    events = "events: {cut: {link: h1:eth1, action: down, at: 500 ms}, dies: {node: h2, action: down, at: 600 ms}}\n"
    job: Any = compile_job(plan(lab(tmp_path, events)))
    steps = [(event["name"], step["node"], step["lines"]) for event in job["events"] for step in event["steps"]]
    assert steps == [("cut", "r1", ["link set dev eth1 down"]), ("dies", "h2", ["link set dev eth1 down"])]
    assert all("reconvergence" not in event for event in job["events"])
    assert all(
        event["settling"] == {"interval_ns": 10**6, "still_ns": job["still"]["still_ns"]} for event in job["events"]
    )


def test_after_a_silent_failure_routes_are_watched_until_the_run_ends(tmp_path: Path) -> None:
    """Nothing changes before a hold timer ends; who looked for `still` saw nothing, and gave up."""
    events = "events: {cut: {link: h1:eth1, action: blackhole, at: 1 s}, lost: {link: h1:eth1, loss: 100 %, at: 2 s}}\n"
    made = plan(lab(tmp_path, events))
    job: Any = compile_job(made)
    assert made.configured is not None and made.limit_ns > made.configured.still_ns
    assert [event["settling"]["still_ns"] for event in job["events"]] == [made.limit_ns, made.limit_ns]


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        ("/usr/lib/frr/frrinit.sh start", True),
        ("service frr restart", True),
        ("/etc/init.d/frr start", True),
        ("systemctl start frr.service", True),
        ("service frr stop", False),
        ("systemctl start quagga", True),
        ("/etc/init.d/zebra restart", True),
        ("service ssh start", False),
        ("/usr/lib/frr/frrinit.sh", False),
    ],
)
def test_commands_that_start_frr(command: str, starts: bool) -> None:
    assert starts_frr(command.split()) is starts


def test_files_of_older_routers_are_frrs_too() -> None:
    def file(path: str) -> NodeFile:
        return NodeFile(path=path, text="x")

    files = [
        file("/etc/quagga/ospfd.conf"),
        file("/etc/zebra/daemons"),
        file("/etc/quagga/other"),
        file("/etc/zebra/a/b"),
    ]
    assert [one.path for one in of_older_routers(files)] == ["/etc/frr/ospfd.conf", "/etc/frr/daemons"]
    (bgp,) = of_older_routers([file("/etc/quagga/bgpd.conf")])
    assert bgp.text == f"{OLDER_DEFAULTS}\nx", "Quagga's BGP needs no policy"
    assert of_older_routers([*files[:1], file("/etc/frr/ospfd.conf")]) == [], "FRR's own is what the lab means"
