"""SSH to the nodes of a live lab, as a client of others sees it: programs in nodes, and no way anywhere else."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from fake_lab import FakeLab
from patience import patient, wait_until

import fabriclab
from fabriclab.engine.artefacts import Artefacts
from fabriclab.ssh.files import Keys, new_keys, remove_files, ssh_config, write_files
from fabriclab.ssh.server import Nodes, SshError


async def connect(port: int, keys: Keys, user: str) -> asyncssh.SSHClientConnection:
    known = asyncssh.import_known_hosts(f"[127.0.0.1]:{port} {keys.server.export_public_key().decode()}")
    return await asyncssh.connect(
        "127.0.0.1", port, username=user, client_keys=[keys.client], known_hosts=known, agent_path=None, config=None
    )


def test_only_the_labs_key_and_its_nodes_get_in(fake: FakeLab) -> None:
    keys = new_keys()

    async def refused(user: str, with_keys: Keys, port: int) -> bool:
        try:
            connection = await connect(port, with_keys, user)
        except asyncssh.PermissionDenied:
            return True
        connection.close()
        return False

    async def tried() -> list[bool]:
        server, port = await Nodes("fake", ["h1", "s1"], ["s1"], keys).start(0)
        try:
            with pytest.raises(SshError, match=f"--port {port}: the port is in use"):
                await Nodes("fake", ["h1"], [], keys).start(port)
            other = Keys(new_keys().client, keys.server)
            who = [("h1", keys), ("s1+vtysh", keys), ("h1+vtysh", keys), ("h2", keys), ("root", keys), ("h1", other)]
            return [await refused(user, some, port) for user, some in who]
        finally:
            server.close()

    assert asyncio.run(tried()) == [False, False, True, True, True, True]


def test_a_configuration_names_every_node_and_every_routers_shell(tmp_path: Path) -> None:
    text = ssh_config(tmp_path, 2222, ["h1", "s1"], ["s1"])
    assert re.findall(r'^Host "(.*)"$', text, re.MULTILINE) == ["h1", "s1", "s1+vtysh"]
    assert "StrictHostKeyChecking yes" in text


def test_files_of_another_server_stay(tmp_path: Path) -> None:
    write_files(tmp_path / "ssh", new_keys(), 2222, ["h1"], [])
    write_files(tmp_path / "ssh", new_keys(), 3333, ["h1"], [])
    remove_files(tmp_path / "ssh", 2222)
    assert (tmp_path / "ssh" / "config").is_file()
    remove_files(tmp_path / "ssh", 3333)
    assert not (tmp_path / "ssh").exists()


def serve(tmp_path: Path, lab: str) -> subprocess.Popen[str]:
    """Start the command as a user does, and wait until it has said what to type."""
    command = [sys.executable, "-m", "fabriclab", "ssh", lab, "--directory", str(tmp_path / "ssh")]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert served.stdout is not None
    assert served.stdout.readline() == f"ssh -F {tmp_path / 'ssh' / 'config'} s1\n"
    assert served.stdout.readline().startswith("ansible -i ")
    return served


async def asked(directory: Path) -> dict[str, Any]:
    """Ask nodes for what they answer, by the files that the command wrote and nothing else."""
    found: dict[str, Any] = {}
    config = [str(directory / "config")]
    # The client's own agent and configuration stay out of it.
    async with await asyncssh.connect("h1", config=config, agent_path=None) as node:
        done = await node.run("hostname; cat; echo err >&2; exit 7", input="typed\n")
        found["run"] = (done.stdout, done.stderr, done.exit_status)
        terminal = await node.run("stty size; tty", term_type="xterm", term_size=(132, 43))
        found["terminal"] = str(terminal.stdout).split()
        # A terminal is the client's to size; a signal reaches the program.
        async with node.create_process("sleep 1000") as process:
            process.send_signal("TERM")
            found["killed"] = (await process.wait()).exit_status
        try:
            await node.start_sftp_client()
        except asyncssh.Error as error:
            found["files"] = type(error).__name__
        try:
            await node.open_connection("127.0.0.1", 22)
        except asyncssh.ChannelOpenError as error:
            found["forwarded"] = error.code
        environment = await node.run("env", env={"LD_PRELOAD": "/x", "PATH": "/nowhere"})
        found["environment"] = str(environment.stdout)
    return found


@pytest.mark.vm
@pytest.mark.slow("a live lab, and a command that serves it in a process of its own")
def test_programs_in_nodes_and_nothing_of_the_host(
    artefacts: Artefacts, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with fabriclab.up("incast", idle=True, speed="max", out=tmp_path / "run", name="ssh-test") as live:
        served = serve(tmp_path, live.name)
        directory = tmp_path / "ssh"
        try:
            assert (directory / "id_ed25519").stat().st_mode & 0o777 == 0o600
            inventory = json.loads((directory / "inventory.json").read_text())["all"]
            assert set(inventory["children"]["hosts"]["hosts"]) == set(live.nodes)
            assert inventory["vars"]["ansible_host"] == "127.0.0.1"
            found = asyncio.run(asyncio.wait_for(asked(directory), patient(60)))
        finally:
            served.send_signal(signal.SIGTERM)
            served.communicate(timeout=patient(30))
        assert not directory.exists(), "keys stay behind"
    assert found["run"] == ("h1\ntyped\n", "err\n", 7)
    assert found["terminal"] == ["43", "132", "/dev/pts/0"]
    assert found["killed"] == 128 + signal.SIGTERM
    assert found["files"] == "ChannelOpenError" and found["forwarded"] == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED
    assert "LD_PRELOAD" not in found["environment"] and "/nowhere" not in found["environment"]
    assert os.environ["PATH"] not in found["environment"]


@pytest.mark.vm
def test_it_ends_with_its_lab(artefacts: Artefacts, runtime: Path, tmp_path: Path) -> None:
    with fabriclab.up("incast", idle=True, speed="max", out=tmp_path / "run", name="ssh-end") as live:
        served = serve(tmp_path, live.name)
    said = served.communicate(timeout=patient(30))[1]
    assert "ssh-end: the lab has gone down" in said
    assert served.returncode == 0
    wait_until(lambda: not (tmp_path / "ssh").exists(), what="the files go")
