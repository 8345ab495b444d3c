"""A stand-in for the kernel: a shell script that says what a machine would say.

The engine can't tell the difference.
"""

from __future__ import annotations

from pathlib import Path

from fabriclab.engine.artefacts import Artefacts

# `job` is the directory that it writes to, as the machine finds it on its command line.
_HEAD = """#!/bin/bash
# No frame was sent, and none lost.
audit=('# fabriclab-audit-1' moment,node,device,counter,frames begin,,,without_room,0 end,,,without_room,0 rows,,,,2)
for word; do
  case $word in
    fabriclab_job=*) job=$PWD/${word#*=} ;;
    fabriclab_inputs=*) inputs=${word#*=} ;;
    fabriclab_part=*) part=-${word#*=} ;;
  esac
done
# Mounted there, as in the machine.
for input in ${inputs//,/ }; do rmdir "$job/${input%:*}" && ln -s "$PWD/${input#*:}" "$job/${input%:*}"; done
if [ -d "$job/collect" ]; then printf '%s\\n' "${audit[@]}" >"$job/collect/audit$part.csv"; fi
"""
# Binds nothing, for a script needs more than the machine's kernel does.
_CONFINE = """#!/bin/bash
echo 'boundary: none'
while [ "$1" != -- ]; do shift; done
shift
exec setpriv --pdeathsig KILL "$@"
"""

EPOCH = """echo 'Linux version 6.12'
echo '@{"event":"phase","phase":"traffic","t_ns":900}'
echo '@{"event":"epoch","t_ns":1000}'
echo '@{"event":"progress","t_ns":100000000}'
"""
END = """echo '@{"event":"end","status":"complete","t_ns":250000000}'
"""
STOPPABLE = """while [ ! -e "$job/stop" ]; do sleep 0.05; done
echo '@{"event":"end","status":"stopped","t_ns":200000000}'
"""


def write_confine(tools: Path) -> None:
    """Write what starts a kernel that is a script."""
    (tools / "confine").write_text(_CONFINE)
    (tools / "confine").chmod(0o755)


def artefacts(directory: Path, body: str) -> Artefacts:
    """Return artefacts whose kernel runs `body`."""
    kernel = directory / "cache" / "kernel" / "0123456789abcdef" / "linux"
    rootfs = directory / "cache" / "rootfs" / "fedcba9876543210" / "root"
    tools = directory / "cache" / "tools" / "00112233445566aa"
    for path in (kernel.parent, rootfs, tools):
        path.mkdir(parents=True, exist_ok=True)
    kernel.write_text(_HEAD + body)
    kernel.chmod(0o755)
    write_confine(tools)
    (rootfs.parent / "packages").write_text("iproute2_6.15.0-1_amd64\nfrr_10.3-3_amd64\n")
    return Artefacts(kernel=kernel, rootfs=rootfs, tools=tools)
