"""Debian's packages are taken from an archive that Debian signed, whatever the host's own apt lets pass."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

MACHINE = Path(__file__).parents[2] / "images" / "machine"
PACKAGE = """Package: linux-source-6.12
Version: 6.12.999-1
Architecture: all
Filename: pool/linux-source-6.12_6.12.999-1_all.deb
Size: 4
SHA256: {sha256}
Description: not Debian's

"""
PERMISSIVE = """Acquire::AllowInsecureRepositories "true";
Acquire::AllowWeakRepositories "true";
Acquire::AllowDowngradeToInsecureRepositories "true";
APT::Get::AllowUnauthenticated "true";
"""


def archive(directory: Path, signature: str | None) -> None:
    """Write an archive that looks like Debian's."""
    listed = PACKAGE.format(sha256=hashlib.sha256(b"evil").hexdigest())
    index = directory / "dists" / "trixie" / "main" / "binary-amd64" / "Packages"
    index.parent.mkdir(parents=True)
    index.write_text(listed)
    (directory / "pool").mkdir()
    (directory / "pool" / "linux-source-6.12_6.12.999-1_all.deb").write_bytes(b"evil")
    sums = f" {hashlib.sha256(listed.encode()).hexdigest()} {len(listed)} main/binary-amd64/Packages\n"
    release = (
        f"Origin: Debian\nSuite: trixie\nCodename: trixie\nArchitectures: amd64\nComponents: main\nSHA256:\n{sums}"
    )
    (directory / "dists" / "trixie" / "Release").write_text(release)
    if signature is not None:
        (directory / "dists" / "trixie" / "Release.gpg").write_text(signature)


GARBAGE = "-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----\n"


def host(directory: Path) -> dict[str, str]:
    """Return the environment of a host whose apt takes anything, from the archive of a directory."""
    (directory / "host.conf").write_text(PERMISSIVE)
    return {
        **os.environ,
        "DEBIAN_MIRROR": f"file://{directory}/archive",
        "APT_CONFIG": str(directory / "host.conf"),
        "XDG_CACHE_HOME": str(directory / "cache"),
    }


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt here: nothing is built from packages either")
@pytest.mark.parametrize("signature", [None, GARBAGE])
def test_an_archive_that_debian_did_not_sign_gives_nothing(signature: str | None, tmp_path: Path) -> None:
    archive(tmp_path / "archive", signature)
    lines = f"""set -uo pipefail
source '{MACHINE}/mirror.sh'
apt_isolated '{tmp_path}/apt' trixie
apt-get -qq -c '{tmp_path}/apt/apt.conf' update
cd '{tmp_path}/apt' && apt-get -q -c '{tmp_path}/apt/apt.conf' download linux-source-6.12"""
    result = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False, env=host(tmp_path))
    assert result.returncode != 0
    assert "is not signed" in result.stderr or "couldn't be verified" in result.stderr or "GPG error" in result.stderr
    assert [path.name for path in (tmp_path / "apt").glob("**/*.deb")] == []


@pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="no mmdebstrap here: no root file system is made either")
def test_no_root_file_system_is_made_of_it(tmp_path: Path) -> None:
    archive(tmp_path / "archive", None)
    command = [str(MACHINE / "rootfs.sh"), "build", "small"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=host(tmp_path))
    assert (result.returncode != 0, result.stdout) == (True, "")
    assert "apt-get update" in result.stderr, "it is refused before anything is asked of it"
    # The archive is as it should be but for its signature: who says that it is to be trusted gets further.
    trusting = ["mmdebstrap", "--quiet", "--mode=chrootless", "--skip=check/chrootless", "--variant=extract"]
    source = f"deb [trusted=yes] file://{tmp_path}/archive trixie main"
    trusting += ["--format=directory", "--include=linux-source-6.12", "trixie", str(tmp_path / "root"), source]
    control = subprocess.run(trusting, capture_output=True, text=True, check=False, env=host(tmp_path))
    assert "apt-get update" not in control.stderr
