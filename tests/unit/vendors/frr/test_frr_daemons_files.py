"""FRR's files by daemon: those of one router are one configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.lab.reading.problems import LabError
from fabriclab.vendors.frr.lab import ImportedNetwork, import_network

ZEBRA = "hostname {name}\ninterface eth1\n ip address 192.0.2.{number}/24\n"
OSPF = "hostname ospfd\npassword zebra\nrouter ospf\n network 192.0.2.0/24 area 0\n"


def write(directory: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def pair(directory: Path, form: str, **more: str) -> Path:
    """Write two routers' files, called as `form` says."""
    files: dict[str, str] = {}
    for number in (1, 2):
        name = f"r{number}"
        texts = {"zebra": ZEBRA.format(name=name, number=number), "ospfd": OSPF, **more}
        files |= {form.format(router=name, daemon=daemon): text for daemon, text in texts.items()}
    return write(directory, files)


def complaint(paths: list[Path], directory: Path) -> str:
    with pytest.raises(LabError) as raised:
        import_network(paths, "test")
    return str(raised.value).replace(f"{directory}/", "")


def assert_pair(made: ImportedNetwork) -> None:
    assert made.routers == ("r1", "r2")
    assert [[str(end) for end in link.ends] for link in made.links] == [["r1:eth1", "r2:eth1"]]
    text = made.files["r1.frr.conf"].decode()
    assert text.index("interface eth1") < text.index("router ospf"), "zebra's file is the first"
    assert " ip address 192.0.2.1/24" in text and " network 192.0.2.0/24 area 0" in text
    assert b"ospfd=yes" in made.files["daemons"]


@pytest.mark.parametrize("form", ["{router}/{daemon}.conf", "{router}-{daemon}.conf", "{daemon}_{router}.conf"])
def test_files_of_one_router_are_one_configuration(tmp_path: Path, form: str) -> None:
    assert_pair(import_network([pair(tmp_path / "given", form)], "test"))


def test_named_by_themselves(tmp_path: Path) -> None:
    given = pair(tmp_path, "{router}/{daemon}.conf")
    files = [given / router / f"{daemon}.conf" for router in ("r1", "r2") for daemon in ("ospfd", "zebra")]
    assert_pair(import_network(files, "test"))


def test_a_directory_of_topotests(tmp_path: Path) -> None:
    """Empty files, expected routes beside the configurations, and neighbours that ExaBGP is."""
    given = pair(tmp_path, "{router}/{daemon}.conf", bgpd="", staticd="\n")
    more = {"r1/ospfroute.txt": "OSPF network routing table\n", "peer1/exabgp.cfg": "group a {}\n", "test_it.py": ""}
    made = import_network([write(given, more)], "test")
    assert_pair(made)
    assert f"{given}/peer1/exabgp.cfg: peer1 runs ExaBGP and is left out" in made.notes


def test_etc_frr_itself_is_a_router(tmp_path: Path) -> None:
    given = pair(tmp_path, "{router}/{daemon}.conf")
    bare = ZEBRA.replace("hostname {name}\n", "").format(number=3)
    made = import_network([given, write(tmp_path / "other" / "r3", {"zebra.conf": bare, "ospfd.conf": OSPF})], "test")
    assert made.routers == ("r1", "r2", "r3"), "named after the directory: `hostname ospfd` is a daemon's"


def test_frr_conf_is_the_whole_configuration_where_there_is_one(tmp_path: Path) -> None:
    given = pair(tmp_path, "{router}/{daemon}.conf")
    write(given, {"r1/frr.conf": ZEBRA.format(name="r1", number=1)})
    assert b"router ospf" not in import_network([given], "test").files["r1.frr.conf"].split(b"! Added by")[0]


def test_a_mistake_is_told_in_its_own_file(tmp_path: Path) -> None:
    given = pair(tmp_path, "{router}/{daemon}.conf", bgpd="!\nrouter bgp none\n")
    said = complaint([given], tmp_path)
    assert "r1/bgpd.conf:2: router bgp none: has no AS number" in said
    assert "r2/bgpd.conf:2: router bgp none" in said


def test_what_is_not_text_is_told_of_its_file(tmp_path: Path) -> None:
    given = pair(tmp_path, "{router}/{daemon}.conf")
    (given / "r2" / "ospfd.conf").write_bytes(b"router ospf\n\xff\n")
    assert "r2/ospfd.conf:2: byte 0xff is not UTF-8" in complaint([given], tmp_path)
