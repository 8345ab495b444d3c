"""Says what is in a wheel, as a CycloneDX bill of materials: the kernel with our patches, Debian's packages, the crates
in the tools, npm's packages in what a browser loads, and Python's packages, which pip brings within ranges.

`.ci/wheel.py` calls it. The same wheel has the same bill: no times, no random numbers.
"""

from __future__ import annotations

import base64
import binascii
import json
import tomllib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from cyclonedx.model import HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import (
    Component,
    ComponentScope,
    ComponentType,
    Diff,
    Patch,
    PatchClassification,
    Pedigree,
)
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTION = "debian-13"
PATCHES = ROOT / "images" / "machine" / "kernel"
SHIPPED = "fabriclab/shipped/images/machine/kernel"
"""Where the wheel has the kernel's patches and our own files."""
_NAMESPACE = uuid.UUID("b4b1a9a2-3c0c-5b0e-9f0f-7a3c1d1f6a52")
"""Of the bills' serial numbers."""


def bill(name: str, version: str, components: Iterable[Component]) -> str:
    """Return the bill of a wheel, as JSON of CycloneDX 1.6."""
    wheel = Component(
        type=ComponentType.APPLICATION,
        name=name,
        version=version,
        licenses=[LicenseExpression("Apache-2.0")],
        purl=PackageURL("pypi", name=name, version=version),
        bom_ref="wheel",
    )
    bom = Bom(components=components)
    bom.metadata.component = wheel
    bom.metadata.timestamp = None  # optional in the format; the library's default is now
    bom.register_dependency(wheel, bom.components)
    listed = " ".join(sorted(str(one.purl) for one in bom.components))
    bom.serial_number = uuid.uuid5(_NAMESPACE, f"{name} {version} {listed}")
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def _sha256(value: str) -> list[HashType]:
    return [HashType(alg=HashAlgorithm.SHA_256, content=value)] if value else []


def contents(artefact: Path) -> dict[str, list[list[str]]]:
    """Return the lines of an artefact's file `contents` by their first word (images/machine/contents.sh)."""
    found: dict[str, list[list[str]]] = {}
    for line in (artefact / "contents").read_text().splitlines():
        kind, *words = line.split()
        found.setdefault(kind, []).append(words)
    return found


def _key(artefact: Path) -> Property:
    return Property(name="fabriclab:contents", value=artefact.name)


def kernel(artefact: Path, sha256: str) -> Iterator[Component]:
    """Yield the kernel: Debian's source with our patches and files, and the program that it became.

    Raises ValueError for one that was built from a tree of somebody's own: nobody could say what is in it.
    """
    listed = contents(artefact)
    if "package" not in listed:
        raise ValueError(f"{artefact} is not a kernel of Debian's source: unset KERNEL_SOURCE")
    ((package, *digest),) = listed["package"]
    name, version, _ = package.split("_")
    version = unquote(version)
    series = name.removeprefix("linux-source-")
    ours = [
        *(PATCHES / "patches" / series).glob("*.patch"),
        *(path for path in (PATCHES / "tree").rglob("*") if path.is_file()),
    ]
    source = Component(
        name=name,
        version=version,
        hashes=_sha256(*digest or [""]),
        purl=_debian(name, version, "all"),
        bom_ref=f"ancestor/{name}",
    )
    patches = [
        Patch(type=PatchClassification.UNOFFICIAL, diff=Diff(url=XsUri(f"{SHIPPED}/{path.relative_to(PATCHES)}")))
        for path in sorted(ours)
    ]
    yield Component(
        type=ComponentType.OPERATING_SYSTEM,
        name="linux",
        version=version,
        description="Linux as a program (ARCH=um), with fabriclab's patches and files",
        licenses=[LicenseExpression("GPL-2.0-only")],
        hashes=_sha256(sha256),
        purl=PackageURL("generic", name="linux", version=version),
        pedigree=Pedigree(ancestors=[source], patches=patches),
        properties=[_key(artefact), *_compilers(listed)],
        bom_ref="kernel",
    )


def _compilers(listed: Mapping[str, list[list[str]]]) -> list[Property]:
    return [Property(name="fabriclab:compiler", value=" ".join(words)) for words in listed.get("compiler", [])]


def _debian(name: str, version: str, architecture: str) -> PackageURL:
    return PackageURL("deb", "debian", name, version, {"arch": architecture, "distro": DISTRIBUTION})


def debian(artefact: Path) -> Iterator[Component]:
    """Yield the packages of a root file system, each with the source package that it was built from."""
    sources = {
        words[0].partition(":")[0]: words[2:]
        for line in (artefact / "sources").read_text().splitlines()
        if (words := line.split())
    }
    for package, *digest in contents(artefact)["package"]:
        name, version, architecture = package.split("_")
        version = unquote(version)
        source_name, source_version = sources[name]
        source = Component(
            name=source_name,
            version=source_version,
            purl=_debian(source_name, source_version, "source"),
            bom_ref=f"ancestor/{name}",
        )
        yield Component(
            name=name,
            version=version,
            hashes=_sha256(*digest or [""]),
            purl=_debian(name, version, architecture),
            pedigree=Pedigree(ancestors=[source]),
            properties=[_key(artefact)],
            bom_ref=f"debian/{name}",
        )


def crates(packages: Sequence[Mapping[str, Any]], tools: Path) -> Iterator[Component]:
    """Yield the crates that are linked into the tools, as `cargo metadata` describes them, and what else is."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(one["name"], one["version"]): one.get("checksum", "") for one in locked}
    for one in packages:
        # Older crates write a slash where SPDX has a word.
        licence = str(one["license"]).replace("/", " OR ")
        yield Component(
            name=one["name"],
            version=one["version"],
            licenses=[LicenseExpression(licence)],
            hashes=_sha256(checksums[one["name"], one["version"]]),
            purl=PackageURL("cargo", name=one["name"], version=one["version"]),
            properties=[_key(tools)],
            bom_ref=f"cargo/{one['name']}@{one['version']}",
        )
    listed = contents(tools)
    rust = next(words[1] for words in listed["compiler"] if words[0] == "rustc")
    yield Component(
        name="rust-std",
        version=rust,
        description="Rust's standard library, linked into the tools",
        purl=PackageURL("generic", name="rust-std", version=rust),
        properties=[_key(tools), *_compilers(listed)],
        bom_ref="rust-std",
    )
    yield Component(
        name="glibc",
        description="linked into the tools and the kernel; it was the build host's, and nothing notes its version",
        purl=PackageURL("generic", name="glibc"),
        bom_ref="glibc",
    )


def npm(lock: Path, names: Iterable[str]) -> Iterator[Component]:
    """Yield the packages that a bundle is made of, of those that a lock of npm's names."""
    packages = json.loads(lock.read_text())["packages"]
    for full in names:
        one = packages[f"node_modules/{full}"]
        group, _, name = full.rpartition("/")
        digest = binascii.hexlify(base64.b64decode(one["integrity"].removeprefix("sha512-"))).decode()
        yield Component(
            name=name,
            group=group or None,
            version=one["version"],
            licenses=[LicenseExpression(one["license"])],
            hashes=[HashType(alg=HashAlgorithm.SHA_512, content=digest)],
            purl=PackageURL("npm", group or None, name, one["version"]),
            bom_ref=f"npm/{full}",
        )


def python() -> Iterator[Component]:
    """Yield what pip brings: fabriclab's own dependencies, and those of its extras, within ranges."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    users = [text for name in ("cluster", "slurm", "ssh", "kubernetes") for text in extras[name]]
    asked = dict.fromkeys(project["dependencies"], ComponentScope.REQUIRED)
    asked |= {text: ComponentScope.OPTIONAL for text in users if not text.startswith("fabriclab")}
    for text, scope in asked.items():
        one = Requirement(text)
        # A package URL's word for a range (the specification VERS).
        ranges = "|".join(sorted(str(each) for each in one.specifier))
        yield Component(
            name=one.name,
            scope=scope,
            description=f"not in the wheel: pip brings it, {text}",
            purl=PackageURL("pypi", name=one.name, qualifiers={"vers": f"vers:pypi/{ranges}"}),
            bom_ref=f"pypi/{one.name}",
        )
