"""What docker-sonic-vs does when it starts, by release: the one place that knows.

Read in sonic-net/sonic-buildimage, branches 202012 to 202605 and master of 2026-08-23, below platform/vs:
`docker-sonic-vs/start.sh` (order, files), `docker-sonic-vs/supervisord.conf` or `.conf.j2` (programs),
`docker-sonic-vs.mk` (what is installed), and dockers/docker-fpm-frr/frr/supervisord/supervisord.conf.common.j2, which
master's takes in. All of them

- cut `lanemap.ini` and `port_config.ini` of the hwsku down to the `ethN` that are there, and end where one has no line
  in them (`bash -e`), so both files are written for the lab's links;
- move a file onto /etc/sonic/config_db.json before redis starts, which a bind mount there refuses ("Device or resource
  busy"), so the file is copied in;
- load that file by `sonic-cfggen --write-to-db` (`configdb-load.sh`);
- start one program after the other, and end at the first that does not start. 202505 to 202605 always end so, with
  `rebootbackend`, which their supervisord.conf does not have; only arp_update comes after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """What one release of the image does by itself."""

    name: str
    starts_bgpd: bool
    """Else whoever runs the image does: supervisord.conf has it, start.sh does not start it."""
    bgpcfgd: bool
    """bgpcfgd makes FRR's configuration of CONFIG_DB, and frrcfgd can in its place. Else the image has neither of them,
    and FRR has the files that the lab's plan has."""

    @property
    def by_start_sh(self) -> tuple[str, ...]:
        """Supervisord's programs that start.sh starts one by one, and without which a switch is none."""
        return _BY_START_SH if self.starts_bgpd else (*_BY_START_SH, "zebra")

    @property
    def programs(self) -> tuple[str, ...]:
        """All of supervisord's programs without which a switch is none, and that start by themselves."""
        return (*self.by_start_sh, *(_LATER if self.starts_bgpd else ()))

    @property
    def files(self) -> tuple[str, ...]:
        """Files and programs of the image that starting a lab's switch needs."""
        return (*_FILES, *(("bgpcfgd",) if self.bgpcfgd else ()))


SUPERVISORD_CONF = "/etc/supervisor/conf.d/supervisord.conf"
_BY_START_SH = ("redis-server", "syncd", "portsyncd", "orchagent", "portmgrd", "intfmgrd", "buffermgrd")
_LATER = ("dependent-startup", "zebra", "bgpd", "bgpcfgd")
"""When start.sh has ended, by supervisord's listener supervisord_dependent_startup."""
_FILES = (
    *("supervisord", "supervisorctl", SUPERVISORD_CONF, "/usr/bin/start.sh", "/usr/bin/configdb-load.sh"),
    *("sonic-cfggen", "redis-server", "redis-cli", "syncd", "orchagent", "portsyncd"),
    *("/usr/lib/frr/zebra", "/usr/lib/frr/bgpd", "vtysh", "ip", "tc", "ethtool"),
)
_BEFORE_MASTER = ("202012", "202106", "202111", "202205", "202211", "202305", "202311", "202405", "202411", "202505")
RELEASES = (
    *(Release(name, starts_bgpd=False, bgpcfgd=False) for name in (*_BEFORE_MASTER, "202511", "202605")),
    Release("master", starts_bgpd=True, bgpcfgd=True),
)
"""In the order of time."""
_NAME = re.compile(r"(?<![0-9])(20[0-9]{4}|master)(?![0-9])")


def release_of(said: str, programs: frozenset[str]) -> Release:
    """Return what an image does whose /etc/sonic/sonic_version.yml says `said` of its release, branch and version.

    One that is not in the table, such as a branch of one's own, is the last one that has bgpcfgd as it has
    (`programs`: supervisord's).
    """
    found = _NAME.search(said)
    named = next((release for release in RELEASES if found is not None and release.name == found[1]), None)
    has = "bgpcfgd" in programs
    # bgpcfgd came into master's image on its way to the next release: what the image has is what counts.
    if named is not None and named.bgpcfgd == has:
        return named
    return [release for release in RELEASES if release.bgpcfgd == has][-1]
