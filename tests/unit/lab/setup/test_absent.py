"""What nodes ask for that the virtual machine does not have is told by node and line, and does not end the run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from fabriclab.api.look import plan
from fabriclab.compile import compile_job, compile_node, compiled_flows
from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.lab.setup.absent import absent
from fabriclab.lab.setup.machine_contents import has_program, has_sysctl, sysctl_path
from fabriclab.lab.setup.shell_words import programs_of, programs_of_script

LAB = """\
name: m
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    h1:
      sysctls: {net.ipv4.nonesuch: 1, net.ipv4.ip_default_ttl: 77, net.mpls.platform_labels: 100}
      cmd: nginx -g 'daemon off;'
      exec: [ip addr add 10.0.0.1/24 dev eth1, dnsmasq -C /etc/x, sysctl -w net.core.default_qdisc=fq]
    h2: {exec: [ip addr add 10.0.0.2/24 dev eth1, /tmp/own.sh, bash /tmp/own.sh], binds: ['own.sh:/tmp/own.sh']}
  links:
    - endpoints: ['h1:eth1', 'h2:eth1']
"""
OWN = "#!/bin/bash\n# by nobody\nset -e\nif true; then lighttpd -f x; fi\ncat <<END >/tmp/x\nnobody reads this\nEND\n"


def written(directory: Path) -> Path:
    (directory / "m.clab.yml").write_text(LAB)
    (directory / "own.sh").write_text(OWN)
    return directory / "m.clab.yml"


def test_check_says_node_line_and_program(tmp_path: Path) -> None:
    """Before: such a lab was OK, and `run` ended with 1 before any traffic."""
    said = [warning.removeprefix("m.clab.yml: ") for warning in plan(written(tmp_path)).warnings]
    fails = "the command fails, and the run goes on"
    assert f"h1: the node's main program (nginx -g daemon off;): the virtual machine has no nginx; {fails}" in said
    line = "topology.nodes.h1.exec[1] (line 8) (dnsmasq -C /etc/x)"
    assert f"h1: {line}: the virtual machine has no dnsmasq; {fails}" in said
    qdisc = "net.core.default_qdisc (by topology.nodes.h1.exec[2] (line 8))"
    assert f"h1: the virtual machine's kernel has no sysctl net.ipv4.nonesuch, {qdisc}; it is left out" in said
    assert f"h2: own.sh: the virtual machine has no lighttpd; {fails}" in said
    assert not [sentence for sentence in said if "own.sh" in sentence and "lighttpd" not in sentence]


def test_the_run_goes_on(tmp_path: Path) -> None:
    made = plan(written(tmp_path))
    text = compile_node(made.node("h1"), made).sysctl
    assert "net.ipv4.ip_default_ttl = 77" in text and "nonesuch" not in text
    assert "net.mpls.platform_labels = 100" in text, "the kernel gets it with the lab"
    job = compile_job(made, compiled_flows(made, tmp_path))
    started = {step["program"]["name"]: step["program"]["argv"] for step in job["setup"]}
    assert started["main@h1"] == ["/bin/sh", "-c", 'exec "$0" "$@"', "nginx", "-g", "daemon off;"]
    assert started["exec-2@h1"][:4] == ["/bin/sh", "-c", 'exec "$0" "$@"', "dnsmasq"]
    assert started["exec-1@h1"][0] == "ip", "what is there is started as it stands"
    assert started["exec-2@h2"] == ["/tmp/own.sh"]


@pytest.mark.parametrize(
    ("command", "is_left_out"),
    [
        ("sh -c 'while true; do nc -l -p 22 >/dev/null; done &'", True),
        ("bash -c 'while :; do nc -l -p 22 || socat x; done'", True),
        ("sh -c 'while true; do nc -l; sleep 1; done'", False),
        ("sh -c 'while read x; do nc -l; done'", False),
        ("sh -c 'while true; do read x; nc -l; done'", False),
        ("sh -c 'nc -l -p 22'", False),
    ],
)
def test_a_loop_that_would_never_wait_is_left_out(tmp_path: Path, command: str, is_left_out: bool) -> None:
    file = written(tmp_path)
    file.write_text(LAB.replace("/tmp/own.sh, bash", f'"{command}", bash'))
    made = plan(file)
    setup = made.node("h2").setup
    assert setup is not None
    assert any("while" in word or "nc" in word for one in setup.commands for word in one.argv) != is_left_out
    said = [one for one in made.warnings if "the virtual machine has no nc" in one]
    ends = "without which the loop would never wait; it is left out" if is_left_out else "and the run goes on"
    assert said and all(one.endswith(ends) for one in said)


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("a; b && c | d || e & f", ["a", "b", "c", "d", "e", "f"]),
        ("X=1 Y='a b' a b", ["a"]),
        ("a >b 2>&1 <c; d", ["a", "d"]),
        ("for i in a b; do c $i; done; while d; do e; done", ["c", "d", "e"]),
        ("if ! a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("f() { a; }; f; b", ["a", "b"]),
        ("a # b; c\nd", ["a", "d"]),
        ("exec a; cd /; echo b; $C; `d`", ["a"]),
        ("a\ncase x in y) b;; esac", ["a"]),
        ("a <<END\nb\nEND\n", ["a"]),
        ("(a; b) | c", ["a", "b", "c"]),
        ("[ $(a | b) -eq 1 ] || c", ["a", "b", "c"]),
        ("while [[ $(a) -eq 0 && -e /x ]]; do b; done", ["b"]),
        ("a $(b) -e c\nd", ["a", "b", "d"]),
        ("a filter \\\n  match c \\\n  police d\nb", ["a", "b"]),
        ("if command -v a >/dev/null; then b; fi", ["b"]),
        ("a 'no end", []),
    ],
)
def test_the_programs_of_a_script(text: str, programs: list[str]) -> None:
    assert programs_of_script(text) == programs


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("ip link set eth1 up", ["ip"]),
        ("sh -c 'a; b'", ["sh", "a", "b"]),
        ("/bin/bash -ec 'a'", ["/bin/bash", "a"]),
        ("bash script.sh", ["bash"]),
        ("bash -c", ["bash"]),
    ],
)
def test_the_programs_of_a_command(command: str, programs: list[str]) -> None:
    assert programs_of(shlex.split(command)) == programs


def test_programs_by_name_and_by_path() -> None:
    assert has_program("ip") and has_program("/sbin/ip") and has_program("/usr/lib/frr/zebra")
    assert not has_program("zebra") and not has_program("/opt/ip") and not has_program("systemctl")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("net.ipv4.ip_forward", "net/ipv4/ip_forward"),
        ("net/ipv4/ip_forward", "net/ipv4/ip_forward"),
        ("net.ipv4.conf.eth1/7.forwarding", "net/ipv4/conf/*/forwarding"),
        ("net/ipv6/conf/eth1.7/disable_ipv6", "net/ipv6/conf/*/disable_ipv6"),
    ],
)
def test_a_sysctl_of_any_interface(name: str, path: str) -> None:
    assert sysctl_path(name) == path and has_sysctl(name)


def test_a_node_has_what_it_binds_and_what_starts_frr() -> None:
    own = NodeFile(path="/usr/local/bin/probe", text="#!/bin/sh\n")
    commands = [("probe", "-x"), ("/usr/lib/frr/frrinit.sh", "start"), ("nft", "list")]
    setup = Setup(
        files=(own,),
        commands=tuple(
            SetupCommand(name=f"exec-{number}", argv=argv, by="containerlab", key="x")
            for number, argv in enumerate(commands)
        ),
    )
    assert not [*absent("h1", setup)], "packet filters are told as what the kernel lacks"
