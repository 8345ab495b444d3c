"""A source of FRR's is compiled where its scripts find nothing of the host: no files, no processes, no network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import patient
from processes import live_processes

from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.frr import build_frr, built_versions, read_source, remove_frr

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow("fetches the compiler the first time"),
    pytest.mark.xdist_group("frr-source"),
]
VERSION = "99.0.1"
CONFIGURE = r"""#!/bin/bash
said() { if eval "$2" 2>/dev/null; then echo "$1 yes"; else echo "$1 no"; fi; }
{
  said secret 'cat SECRET'
  said host 'ls HOST'
  said outside 'echo x >HOST/evil'
  said source 'ls /source'
  said listener 'echo x >/dev/tcp/127.0.0.1/PORT'
  said mount 'mount -t tmpfs tmpfs /mnt'
  said chroot 'chroot / true'
  said parent 'kill -0 HOSTPID'
  echo "interfaces $(tail -n +3 /proc/net/dev | wc -l)"
  echo "capabilities $(sed -n 's/^CapBnd:\s*//p' /proc/self/status)"
  echo x >/usr/lib/evil
} >report
does=$(cat "$(dirname "$0")/make-does")
{
  printf 'all:\n\t@echo "  CC       bgpd/one.o"\n\t%s\n' "$does"
  printf 'install-strip:\n\tmkdir -p $(DESTDIR)/usr/lib\n\tcp report $(DESTDIR)/usr/lib/\n'
} >Makefile
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "source"
    directory.mkdir()
    (directory / "configure.ac").write_text(f"AC_INIT([frr], [{VERSION}])\n")
    (directory / "make-does").write_text("true")
    (directory / "configure").write_text(CONFIGURE.replace("HOSTPID", str(os.getpid())).replace("HOST", str(tmp_path)))
    (directory / "configure").chmod(0o755)
    return directory


def test_its_scripts_find_nothing_of_the_host(source: Path, tmp_path: Path, artefacts: Artefacts) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        script = source / "configure"
        script.write_text(
            script.read_text().replace("SECRET", str(secret)).replace("PORT", str(listener.getsockname()[1]))
        )
        layer = build_frr(read_source(source))
    try:
        lines = dict(line.split(" ", 1) for line in (layer / "root/usr/lib/report").read_text().splitlines())
    finally:
        remove_frr(built_versions(artefacts.rootfs)[VERSION])
    assert lines.pop("interfaces") == "1" and int(lines.pop("capabilities"), 16) == 0
    assert set(lines.values()) == {"no"} and len(lines) == 8, lines
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "source"]
    assert not (artefacts.rootfs / "usr/lib/evil").exists() and not (source / "evil").exists()


def test_a_build_that_fails_names_step_log_and_lines(
    source: Path, artefacts: Artefacts, capfd: pytest.CaptureFixture[str]
) -> None:
    (source / "make-does").write_text("@echo bgpd/one.c:7: no such thing; false")
    with pytest.raises(EngineError, match=rf"FRR {VERSION} can't be built of {source}"):
        build_frr(read_source(source))
    said = capfd.readouterr().err
    assert "bgpd/one.c:7: no such thing" in said and VERSION not in built_versions(artefacts.rootfs)
    log = said.split("all that was said is in ")[1].split()[0]
    assert f"FRR {VERSION} was not built: it failed while compiling" in said
    assert "== configuring it" in Path(log).read_text()
    Path(log).unlink()


def test_a_library_that_is_too_old_is_named(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (source / "configure").write_text(
        "#!/bin/sh\necho 'error: libyang >= 9.1 is required, and was not found'; exit 1\n"
    )
    with pytest.raises(EngineError):
        build_frr(read_source(source))
    said = capfd.readouterr().err
    assert "the virtual machine's Debian has libyang 3." in said and "it failed while configuring it" in said
    Path(said.split("all that was said is in ")[1].split()[0]).unlink()


def test_ctrl_c_leaves_nothing(source: Path, artefacts: Artefacts) -> None:
    (source / "make-does").write_text("sleep 777.321")
    argv = [sys.executable, "-m", "fabriclab", "frr", "add", str(source), "--trust"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + patient(300)
        while not live_processes("777.321") and time.monotonic() < end:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 130 and "interrupted" in said
    assert live_processes("777.321") == [] and VERSION not in built_versions(artefacts.rootfs)
    layers = artefacts.rootfs.parents[2] / "layers"
    assert not [one for one in layers.glob("*.partial.*") if (one / "work").exists()]
