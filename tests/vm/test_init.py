"""PID 1 executes jobs: boots the machine with small jobs and looks at what happened."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from patience import patient

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.private_directory import memory_directory, memory_places
from fabriclab.engine.virtual import Machine, machine_argv
from fabriclab.scratch import Scratch

pytestmark = pytest.mark.vm

WALL_LIMIT_S = 600
"""Far above what a boot takes: a machine that hangs must not hang the tests."""

Event = dict[str, Any]

IP_BATCH = """\
# every form that PID 1 interprets itself
address add 10.0.0.1/31 dev eth1
address add 10.0.1.1/24 dev eth2
address add 127.0.0.2/8 dev lo
address replace fd00::1/64 dev eth1

neighbour replace 10.0.0.0 lladdr 02:fa:00:00:00:09 dev eth1 nud permanent
neigh add fd00::9 dev eth1 lladdr 02:fa:00:00:00:0a nud permanent
link set dev eth2 mtu 1400 txqueuelen 77
link set eth2 up
route add 10.2.0.0/16 rto_min 5ms initcwnd 10 quickack 1 cwnd lock 20 window 29200 via 10.0.0.0 dev eth1
route add 10.3.0.0/16 dev eth2 mtu lock 1300 advmss 1200 window 65000 initrwnd 5 ssthresh 9
route add default via 10.0.0.0
route replace default rto_min 1s via 10.0.1.9 dev eth2
route add 10.4.0.0/16 rto_min 200ms nexthop via 10.0.0.0 dev eth1 nexthop via 10.0.1.9 dev eth2 weight 3
route add 10.5.0.7 dev eth1
route add fd01::/48 via fd00::9 dev eth1
route add fd02::/48 dev eth1
route add default via fd00::9
route add default table 101 rto_min 5ms initcwnd 10 via 10.0.0.0 dev eth1
route add 10.6.0.0/16 table 102 via 10.0.1.9
rule add from 10.0.0.1/32 table 101 priority 101
rule add from 10.7.0.8/29 table 102 priority 102
mptcp limits set subflow 7 add_addr_accepted 8
mptcp endpoint add 10.0.0.1 dev eth1 id 1 subflow
mptcp endpoint add 10.0.1.1 dev eth2 id 2 subflow fullmesh
mptcp endpoint add 10.7.0.8 dev eth2 id 8 signal
"""

TC_BATCH = """\
qdisc add dev eth1 root handle 1: tbf rate 10000000000bit burst 1514 limit 64000 overhead 24 mpu 84
qdisc add dev eth1 parent 1:1 handle 2: netem limit 1000000 delay 25000ns
qdisc add dev eth1 parent 2:1 handle 3: red limit 400000 min 30000 max 30001 probability 1 avpkt 1000 burst 30 \
bandwidth 10gbit ecn nodrop
qdisc add dev eth2 root handle a1: tbf rate 100gbit burst 9014 limit 64000
qdisc replace dev eth2 parent a1:1 handle 2: netem delay 3ms
qdisc replace dev eth2 parent 2:1 handle 3: red limit 64000 min 5000 max 15000 avpkt 1000 burst 20 bandwidth 10mbit \
ecn harddrop adaptive
qdisc add dev eth3 root pfifo limit 100
qdisc replace dev eth3 root handle 5: bfifo limit 777
qdisc add dev eth4 root handle 1: red limit 400000 min 30000 max 90000 probability 0.1 avpkt 1500 burst 55 bandwidth \
1gbit
qdisc add dev eth5 root handle 1: codel limit 42 target 5000us interval 100000us ecn
qdisc replace dev eth5 root handle 3: codel target 1ms noecn
qdisc add dev eth6 root handle 3: fq_codel limit 42 memory_limit 256000 target 5ms interval 1s noecn flows 64 quantum \
300
qdisc add dev eth7 root handle 1: tbf rate 10gbit burst 1514 limit 64000
qdisc add dev eth7 parent 1:1 handle 3: pie limit 42 target 14999us tupdate 15ms ecn
"""

PORT, PORT2 = (f"qdisc add dev eth{number} root handle 1: switch_port rate 1000000000bit" for number in (1, 2))

SHOWN = {
    "address": ["ip", "-d", "-j", "address"],
    "route": ["ip", "-d", "-j", "route", "show", "table", "all"],
    "route6": ["ip", "-6", "-d", "-j", "route", "show", "table", "all"],
    "neighbour": ["ip", "-d", "-j", "neighbour"],
    "rule": ["ip", "-d", "-j", "rule"],
    "mptcp-endpoints": ["ip", "-d", "-j", "mptcp", "endpoint"],
    "mptcp-limits": ["ip", "-d", "-j", "mptcp", "limits"],
    "qdisc": ["tc", "-d", "-s", "-j", "qdisc"],
    "qdisc-raw": ["tc", "-d", "-r", "-s", "qdisc"],
}


@pytest.fixture
def run_directory(tmp_path: Path) -> Iterator[Path]:
    # A kernel's command line takes no path with quotes or brackets, and some test names have them.
    with tempfile.TemporaryDirectory(dir=tmp_path.parent) as directory:
        yield Path(directory)


def program(name: str, node: str | None, *argv: str) -> dict[str, object]:
    return {"name": name, "node": node, "argv": list(argv)}


LINKS = 7
"""Between a and b: a device of a for each stack of qdiscs in TC_BATCH."""


def link(number: int) -> dict[str, object]:
    def end(node: str, half: int) -> dict[str, str]:
        return {"node": node, "interface": f"eth{number}", "mac": f"02:fa:00:00:0{half}:0{number}"}

    return {"a": end("a", 1), "b": end("b", 2), "mtu": 1500}


def job(**parts: object) -> dict[str, object]:
    """Two nodes, a with files, LINKS links between them, traffic that ends at once."""
    return {
        "format": "fabriclab-job-1",
        "limit_ns": 1_000_000_000,
        "nodes": [{"name": "a", "files": "nodes/a"}, {"name": "b"}],
        "links": [link(number) for number in range(1, LINKS + 1)],
        "traffic": [program("nothing", "a", "true")],
        **parts,
    }


def boot(
    artefacts: Artefacts,
    directory: Path,
    described: dict[str, object],
    *,
    files: dict[str, str] | None = None,
    option: str = "",
    memory_bytes: int = 256 << 20,
) -> list[Event]:
    """Run the job in a fresh run directory and return its events."""
    for name, text in {
        "nodes/a/sysctl.conf": "",
        "machine/job.json": json.dumps(described, indent=1),
        **(files or {}),
    }.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    machine = Machine(artefacts, directory, seed=1, memory_bytes=memory_bytes, cpu=min(os.sched_getaffinity(0)))
    scratch = Scratch(directory)
    scratch.make()
    place = memory_directory(machine.memory_bytes, memory_places(directory))
    with tempfile.TemporaryDirectory(dir=place) as private:
        argv = machine_argv(machine, Path(private)) + ([option] if option else [])
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": private},
            cwd=private,
            timeout=patient(WALL_LIMIT_S),
            check=False,
        )
    scratch.take_over()
    lines = done.stdout.decode().splitlines()
    return [json.loads(line[1:]) for line in lines if line.startswith("@")]


def error(events: list[Event]) -> Event:
    assert events[-1]["event"] == "end" and events[-1]["status"] == "failed", events
    return next(event for event in events if event["event"] == "error")


def collected(directory: Path, name: str) -> str:
    return (directory / "collect" / name).read_text()


def without_seeds(text: str) -> str:
    """netem draws a seed of its own, from a stream that other processes draw from too."""
    return re.sub(r'"?seed"?[: ]\d+', "", text)


def test_batch_files_mean_what_the_real_tools_make_of_them(artefacts: Artefacts, run_directory: Path) -> None:
    described = job(collect=[program(name, "a", *argv) for name, argv in SHOWN.items()])
    files = {"nodes/a/ip.batch": IP_BATCH, "nodes/a/tc.batch": TC_BATCH}
    ours, tools = run_directory / "ours", run_directory / "tools"
    assert boot(artefacts, ours, described, files=files)[-1]["status"] == "complete"
    assert boot(artefacts, tools, described, files=files, option="fabriclab_batch=tools")[-1]["status"] == "complete"
    for name in SHOWN:
        assert without_seeds(collected(ours, name)) == without_seeds(collected(tools, name)), name
    assert '"kind":"red"' in collected(ours, "qdisc")
    assert "10.4.0.0/16" in collected(ours, "route")
    assert '"fullmesh"' in collected(ours, "mptcp-endpoints") and "10.7.0.8" in collected(ours, "rule")


@pytest.mark.parametrize("option", ["", "fabriclab_batch=tools"])
@pytest.mark.parametrize(
    ("file", "text", "line", "message"),
    [
        (
            "ip.batch",
            "address add 10.0.0.1/24 dev eth1\nroute add 10.9.0.0/16 via 1.2.3.4\n",
            2,
            "Error: Nexthop has invalid gateway.",
        ),
        (
            "tc.batch",
            "\n# twice\nqdisc add dev eth1 root pfifo\nqdisc add dev eth1 root handle 7: bfifo\n",
            4,
            "Error: NLM_F_REPLACE needed to override.",
        ),
        (
            "tc.batch",
            "qdisc add dev eth1 root pfifo\nqdisc add dev eth2 root netem delay 25parsecs\n",
            2,
            'Illegal "latency"',
        ),
        ("tc.batch", f"{PORT} cell 256\n{PORT2} memory 1 1000 queue 3 pool 0\n", 2, "Error: pool 0 has no size."),
        ("tc.batch", f"{PORT}\n\n{PORT2} queue 3 pool 4\n", 3, 'queue 3: pool "4": must be a whole number from 0 to 3'),
        ("tc.batch", f"{PORT}\nqdisc add dev eth2 root fq quickly\n", 2, 'What is "quickly"?'),
        (
            "ip.batch",
            2 * "mptcp endpoint add 10.0.0.1 dev eth1 id 1 subflow\n",
            2,
            "Error: too many addresses or duplicate one: -16.",
        ),
        ("ip.batch", 2 * "rule add from 10.0.0.0/24 table 7 priority 7\n", 2, "File exists"),
        ("ip.batch", "address add 10.0.0.1/24 dev eth9\n", 1, 'Cannot find device "eth9"'),
        ("sysctl.conf", "net.ipv4.tcp_ecn = 1\nnet.ipv4.nope = 1\n", 2, "no such sysctl"),
        ("sysctl.conf", "net.ipv4.tcp_congestion_control = qctcp\n", 1, 'refuses the value "qctcp"'),
    ],
)
def test_a_wrong_line_is_named(
    artefacts: Artefacts, run_directory: Path, file: str, text: str, line: int, message: str, option: str
) -> None:
    told = error(boot(artefacts, run_directory, job(), files={f"nodes/a/{file}": text}, option=option))
    assert (told["phase"], told["node"], told["file"], told["line"]) == ("configure", "a", f"nodes/a/{file}", line)
    assert told["text"] == text.splitlines()[line - 1]
    assert message in told["message"]


def test_a_wrong_job_is_named(artefacts: Artefacts, run_directory: Path) -> None:
    told = error(boot(artefacts, run_directory, job(surprise=1)))
    assert told["file"] == "machine/job.json"
    assert "unknown field `surprise`" in told["message"]
    assert "surprise" in told["text"]


def test_nodes_are_separate_machines(artefacts: Artefacts, run_directory: Path) -> None:
    look = (
        "uname -n; ls /proc | grep -c '^[0-9]'; ls /sys/class/net | tr '\\n' ' '; ls /run/netns | tr '\\n' ' '; "
        "echo mine > /etc/mine"
    )
    described = job(
        collect=[
            program("a", "a", "bash", "-c", look),
            program("b", "b", "bash", "-c", f"{look}; cat /etc/from-root"),
            program("files", "a", "cat", "/etc/from-root", "/etc/mine"),
            program("offloads", "a", "ethtool", "-k", "eth1"),
            program("beside", "a", "ip", "-n", "b", "link", "show", "dev", "eth1"),
        ]
    )
    events = boot(artefacts, run_directory, described, files={"nodes/a/root/etc/from-root": "copied\n"})
    assert collected(run_directory, "a").startswith("a\n")
    assert "eth1 eth2 eth3 eth4 eth5 eth6 eth7 lo" in collected(run_directory, "a")
    assert collected(run_directory, "a").endswith("a b ")
    assert collected(run_directory, "files") == "copied\nmine\n"
    assert error(events)["node"] == "b", "b has no file of a's root/"
    assert "02:fa:00:00:02:01" in collected(run_directory, "beside"), "a knows b's network namespace by its name"
    for feature in ("tx-tcp-segmentation", "generic-segmentation-offload", "generic-receive-offload"):
        assert f"{feature}: off" in collected(run_directory, "offloads")


def test_a_fabric_may_have_more_nodes_than_a_program_has_descriptors(artefacts: Artefacts, run_directory: Path) -> None:
    # PID 1 has a descriptor of each node. Programs have the usual limit: FRR closes every descriptor up to it.
    nodes = [{"name": f"n{number}"} for number in range(1100)]
    described = job(
        nodes=nodes, links=[], traffic=[], collect=[program("limit", "n1099", "bash", "-c", "ulimit -Sn; ulimit -Hn")]
    )
    events = boot(artefacts, run_directory, described, memory_bytes=1 << 30)
    assert events[-1]["status"] == "complete", events
    assert collected(run_directory, "limit") == "1024\n1048576\n"


def test_failed_traffic_fails_the_run_and_keeps_its_output(artefacts: Artefacts, run_directory: Path) -> None:
    events = boot(
        artefacts,
        run_directory,
        job(
            traffic=[program("bad", "a", "bash", "-c", "echo words; exit 3")],
            collect=[program("c", None, "echo", "kept")],
        ),
    )
    assert {"event": "process", "name": "bad", "status": "exit 3"}.items() <= next(
        e for e in events if e["event"] == "process"
    ).items()
    assert "logs/bad.log" in error(events)["message"]
    assert (run_directory / "logs/bad.log").read_text() == "words\n"
    assert collected(run_directory, "c") == "kept\n"


def test_the_limit_ends_endless_traffic_and_probes_finish(artefacts: Artefacts, run_directory: Path) -> None:
    probe = program("probe", None, "bash", "-c", "trap 'echo finished; exit 0' TERM; while :; do sleep 0.01; done")
    stubborn = program("endless", "a", "bash", "-c", "trap '' TERM; while :; do sleep 0.01; done")
    events = boot(artefacts, run_directory, job(limit_ns=250_000_000, probes=[probe], traffic=[stubborn]))
    assert events[-1]["status"] == "limit"
    progress = [event["t_ns"] // 1_000_000 for event in events if event["event"] == "progress"]
    assert progress == [100, 200]
    ended = {event["name"]: event for event in events if event["event"] == "process"}
    assert ended["endless"]["status"] == "signal 9"
    # Two virtual seconds between SIGTERM and SIGKILL.
    assert ended["endless"]["t_ns"] // 10_000_000 == 225
    assert (run_directory / "logs/probe.log").read_text() == "finished\n"


def test_a_stop_file_ends_the_traffic(artefacts: Artefacts, run_directory: Path) -> None:
    # The traffic itself asks for the stop: the host would have to hit the right moment of a run that lasts
    # milliseconds.
    traffic = program("asks", "a", "bash", "-c", "sleep 0.15; touch /job/stop; sleep 100")
    events = boot(artefacts, run_directory, job(limit_ns=10_000_000_000, traffic=[traffic]))
    assert events[-1]["status"] == "stopped"
    assert events[-1]["t_ns"] < 1_000_000_000


def test_the_same_job_tells_the_same_events(artefacts: Artefacts, run_directory: Path) -> None:
    files = {"nodes/a/ip.batch": IP_BATCH, "nodes/a/tc.batch": TC_BATCH}
    first = boot(artefacts, run_directory / "run", job(), files=files)
    # At the same place: the path is on the kernel's command line.
    shutil.rmtree(run_directory / "run")
    second = boot(artefacts, run_directory / "run", job(), files=files)
    assert first == second
    assert [event["phase"] for event in first if event["event"] == "phase"] == [
        "nodes",
        "links",
        "configure",
        "daemons",
        "probes",
        "traffic",
        "collect",
    ]


def test_a_missing_root_file_system_is_told(artefacts: Artefacts, run_directory: Path) -> None:
    (run_directory / "empty").mkdir()
    told = error(boot(replace(artefacts, rootfs=run_directory / "empty"), run_directory / "run", job()))
    assert told["message"]
