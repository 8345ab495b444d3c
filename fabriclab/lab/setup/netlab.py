"""Labs that netlab wrote: what `netlab initial` does in the nodes once Containerlab has deployed them.

Such a lab's directory has `host_vars/NODE/topology.json` beside `clab.yml`; its `clab.config_templates` lists scripts
of `node_files/NODE`, in order, each with a mode (netlab's netsim/providers/clab/configs.py): `sh` and `cp_sh` run in
the container, `ns` in its network namespace, `startup` and `shared` are Containerlab's matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabriclab.formats.plan.setup import NodeFile, SetupCommand
from fabriclab.lab.reading.files import UnreadableError, read_lab_file
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.setup.binds import LARGEST_FILE_BYTES

_LARGEST_JSON_BYTES = 16 << 20
_SCRIPTS = "/run/netlab"
"""Where a node has scripts that netlab runs in its network namespace only."""


def netlab_steps(
    node: str, directory: Path, place: Place, problems: Problems
) -> tuple[list[NodeFile], list[SetupCommand]]:
    """Return the files that netlab's scripts are and the commands that run them; none where netlab did not write the
    lab. What is wrong is recorded at the node's `place`."""
    files, commands = list[NodeFile](), list[SetupCommand]()
    for module, target, mode in _templates(node, directory):
        name = f"node_files/{node}/{module}"
        path = target if mode != "ns" else f"{_SCRIPTS}/{len(commands) + 1:02}-{module}.sh"
        try:
            text = read_lab_file(directory, name, LARGEST_FILE_BYTES).decode()
        except (UnreadableError, UnicodeDecodeError) as error:
            problems.add(place, f"topology.nodes.{node}", f"netlab's script {name}: {error}; run netlab create again")
            continue
        files.append(NodeFile(path=path, text=text, source=name, executable=True, bound=False))
        argv = ("/bin/sh", path) if mode == "ns" else (path,)
        commands.append(SetupCommand(name=f"netlab-{module}", argv=argv, by="netlab", key=name))
    return files, commands


def variables_file(node: str) -> str:
    """Return where netlab says what it does in a node, relative to the lab's directory."""
    return f"host_vars/{node}/topology.json"


def _templates(node: str, directory: Path) -> Iterator[tuple[str, str, str]]:
    """Yield module, file in the node and mode of each script."""
    try:
        data = json.loads(read_lab_file(directory, variables_file(node), _LARGEST_JSON_BYTES))
    except (UnreadableError, ValueError):
        return
    for item in _mapping(_mapping(data).get("clab")).get("config_templates") or ():
        template = _mapping(item)
        module, target, mode = (str(template.get(key) or "") for key in ("source", "target", "mode"))
        if module and (mode == "ns" or (mode in ("sh", "cp_sh") and target)):
            yield module, target, mode


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
