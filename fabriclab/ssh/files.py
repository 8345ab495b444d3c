"""What a client needs: a key for this lab alone, the server's key, ssh_config, and an inventory of Ansible's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from fabriclab.files import write_text

HOST = "127.0.0.1"
KEY, KNOWN, CONFIG, INVENTORY = "id_ed25519", "known_hosts", "config", "inventory.json"
VTYSH = "+vtysh"
"""After a router's name: FRR's shell instead of the system's."""


@dataclass(frozen=True)
class Keys:
    """Both sides' keys, made for one server."""

    client: asyncssh.SSHKey
    server: asyncssh.SSHKey


def new_keys() -> Keys:
    """Make keys that nothing else uses."""
    client, server = (asyncssh.generate_private_key("ssh-ed25519", comment="fabriclab") for _ in range(2))
    return Keys(client, server)


def write_files(directory: Path, keys: Keys, port: int, nodes: Sequence[str], routers: Sequence[str]) -> None:
    """Write the files for a client into a directory, the key for this user's eyes alone. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    key = directory / KEY
    key.unlink(missing_ok=True)
    key.touch(0o600, exist_ok=False)
    key.write_bytes(keys.client.export_private_key("openssh"))
    public = keys.server.export_public_key("openssh").decode().strip()
    write_text(directory / KNOWN, f"[{HOST}]:{port} {' '.join(public.split()[:2])}\n")
    write_text(directory / CONFIG, ssh_config(directory.resolve(), port, nodes, routers))
    write_text(directory / INVENTORY, inventory(directory.resolve(), port, nodes, routers))


def remove_files(directory: Path, port: int) -> None:
    """Remove what `write_files` wrote of a port: without its server nothing of it is of use. Another server's stay."""
    try:
        known = (directory / KNOWN).read_text(encoding="utf-8")
    except OSError:
        known = ""
    if known and not known.startswith(f"[{HOST}]:{port} "):
        return
    for name in (KEY, KNOWN, CONFIG, INVENTORY):
        (directory / name).unlink(missing_ok=True)
    try:
        directory.rmdir()
    except OSError:
        return  # Somebody else's files are in it.


def ssh_config(directory: Path, port: int, nodes: Sequence[str], routers: Sequence[str]) -> str:
    """Return ssh_config(5): `ssh -F FILE NODE`, and `NODE+vtysh` of a router."""
    lines = ["# Written by `fabriclab ssh`; it goes when that ends."]
    for name in (*nodes, *(f"{router}{VTYSH}" for router in routers)):
        lines += [f'Host "{name}"', f'  User "{name}"']
    lines += ["Host *", f"  HostName {HOST}", f"  Port {port}", f'  IdentityFile "{directory / KEY}"']
    lines += [f'  UserKnownHostsFile "{directory / KNOWN}"', "  GlobalKnownHostsFile none", "  IdentitiesOnly yes"]
    lines += ["  StrictHostKeyChecking yes", "  PreferredAuthentications publickey", "  LogLevel ERROR"]
    return "\n".join(lines) + "\n"


def inventory(directory: Path, port: int, nodes: Sequence[str], routers: Sequence[str]) -> str:
    """Return an inventory of Ansible's, as JSON, which its YAML plugin reads: groups `hosts` and `routers`."""
    common = {
        "ansible_host": HOST,
        "ansible_port": port,
        "ansible_ssh_private_key_file": str(directory / KEY),
        "ansible_ssh_common_args": f"-F {directory / CONFIG}",
        # Nodes serve no files.
        "ansible_ssh_transfer_method": "piped",
    }
    groups = {
        "hosts": {"hosts": {name: {"ansible_user": name} for name in nodes if name not in routers}},
        "routers": {"hosts": {name: {"ansible_user": name} for name in routers}},
    }
    return json.dumps({"all": {"vars": common, "children": groups}}, indent=2) + "\n"
