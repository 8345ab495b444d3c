"""A minigraph as a config_db.json: by SONiC's own program sonic-cfggen (sonic-buildimage, src/sonic-config-engine)."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.parsers import expat

PROGRAM = "sonic-cfggen"
PORT_CONFIG = "port_config.ini"
_LONGEST_S = 120
_LARGEST_BYTES = 64 * 2**20
_DECLARATION = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


class MinigraphError(Exception):
    """Why a minigraph does not become a config_db.json: `line` of it, or None, and a sentence."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def config_of_minigraph(data: bytes, beside: Path) -> bytes:
    """Return the JSON that sonic-cfggen prints of a minigraph. Raises MinigraphError.

    `beside`: the minigraph's directory, whose port_config.ini names the ports. A document with a DTD is refused before
    the program reads it, because entities can name files of the host.
    """
    _check_xml(data)
    if shutil.which(PROGRAM) is None:
        raise MinigraphError(
            "is a minigraph; install sonic-config-engine, whose sonic-cfggen reads it, or convert it on the switch: "
            f"{PROGRAM} -m minigraph.xml -p {PORT_CONFIG} --print-data > config_db.json"
        )
    with tempfile.TemporaryDirectory(prefix="fabriclab-minigraph-") as name:
        graph = Path(name) / "minigraph.xml"
        graph.write_bytes(data)
        ports = (beside / PORT_CONFIG).resolve()
        argv = [PROGRAM, "-m", str(graph), *(["-p", str(ports)] if ports.is_file() else []), "--print-data"]
        try:
            done = subprocess.run(argv, capture_output=True, check=False, timeout=_LONGEST_S, cwd=name)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MinigraphError(f"{PROGRAM} did not end ({error})") from error
    if done.returncode or not done.stdout.lstrip().startswith(b"{") or len(done.stdout) > _LARGEST_BYTES:
        last = next(
            (line for line in reversed(done.stderr.decode("utf-8", "replace").splitlines()) if line.strip()), ""
        )
        said = "".join(letter for letter in last.strip()[:200] if letter.isprintable())
        raise MinigraphError(
            f"{PROGRAM} made no config_db.json of it (status {done.returncode}): {said or 'no message'}"
        )
    return done.stdout


def _check_xml(data: bytes) -> None:
    if match := _DECLARATION.search(data):
        raise MinigraphError(
            "has a DTD, which a minigraph does not need; remove it", data.count(b"\n", 0, match.start()) + 1
        )
    parser = expat.ParserCreate()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise MinigraphError(f"is not XML ({expat.ErrorString(error.code)}); give a minigraph", error.lineno) from error
