"""The table of docker-sonic-vs's releases against the sources of one.

Reads a checkout of sonic-buildimage from SONIC_SOURCE, of any release of the table; the engine's side is in
`test_sonic_image.py`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fabriclab.vendors.sonic.image.releases import Release, release_of

SOURCE = Path(os.environ.get("SONIC_SOURCE", ""))
IMAGE = SOURCE / "platform" / "vs" / "docker-sonic-vs"

if not os.environ.get("SONIC_SOURCE") or not (IMAGE / "start.sh").is_file():
    pytest.skip("SONIC_SOURCE=DIR, a clone of sonic-net/sonic-buildimage, runs them", allow_module_level=True)


@pytest.fixture
def start_sh() -> str:
    return (IMAGE / "start.sh").read_text()


@pytest.fixture
def programs() -> frozenset[str]:
    """Supervisord's programs, with those of the templates that master's takes in."""
    own = next(iter(IMAGE.glob("supervisord.conf*")))
    texts = [own.read_text()]
    if "{% include" in texts[0]:
        texts += [path.read_text() for path in sorted((SOURCE / "dockers").rglob("supervisord.conf.common.j2"))]
    return frozenset(re.findall(r"^\[(?:program|eventlistener):(.+)\]$", "\n".join(texts), re.MULTILINE))


@pytest.fixture
def release(programs: frozenset[str]) -> Release:
    return release_of("", programs)


def test_the_image_has_the_programs_that_are_waited_for(release: Release, programs: frozenset[str]) -> None:
    assert set(release.programs) <= programs


def test_start_sh_starts_what_it_is_said_to(release: Release, start_sh: str) -> None:
    started = re.findall(r"^supervisorctl start (\S+)$", start_sh, re.MULTILINE)
    assert set(release.by_start_sh) <= set(started)
    assert ("zebra" in started) == ("zebra" in release.by_start_sh) and "bgpd" not in started


def test_start_sh_takes_the_file_where_it_is_copied_to(start_sh: str) -> None:
    """It moves a file onto it, which is why it is not bound there, and ends at the first command that fails."""
    first, *lines = start_sh.splitlines()
    assert first == "#!/bin/bash -e" and "mv /tmp/config_db.json /etc/sonic/config_db.json" in start_sh
    (filtered,) = [number for number, line in enumerate(lines) if line == "done > lanemap.ini"]
    assert "grep ^$p: lanemap.ini.orig" in lines[filtered - 1]
    assert r'grep -E "\s$lanes\s" port_config.ini.orig' in start_sh


def test_the_image_makes_frr_s_configuration_where_it_is_said_to(release: Release, programs: frozenset[str]) -> None:
    assert release.bgpcfgd == bool({"bgpcfgd", "frrcfgd"} & programs)
    assert "bgpd" in programs
