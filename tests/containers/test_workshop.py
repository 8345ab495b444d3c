"""The workshop: a room's settings, its cards, and with Docker that a seat is a participant's own and nobody else's."""

from __future__ import annotations

import http.cookiejar
import importlib.util
import json
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from patience import patient
from ruamel.yaml import YAML

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.docker import image_identity

ROOT = Path(__file__).parents[2]
WORKSHOP = ROOT / "images" / "workshop"
MANY_S = patient(180)
GOOD = {
    "FABRICLAB_SEATS": "20",
    "FABRICLAB_SEAT_MEMORY": "2G",
    "FABRICLAB_SEAT_CPUS": "1.5",
    "FABRICLAB_ROOM_NETWORK": "10.213.0.0/16",
}


def module(name: str) -> ModuleType:
    """Return a module of the hub's, which no package of ours has."""
    found = importlib.util.spec_from_file_location(name, WORKSHOP / f"{name}.py")
    assert found is not None and found.loader is not None
    loaded = importlib.util.module_from_spec(found)
    # A dataclass looks its module up.
    __import__("sys").modules[name] = loaded
    found.loader.exec_module(loaded)
    return loaded


room = module("room")


class TestRoom:
    """What docker-compose.yml's environment says."""

    def test_each_has_a_name_and_a_network_of_its_own(self) -> None:
        found = room.read_room(GOOD)
        assert found.names[:2] == ["trainer", "seat01"] and found.names[-1] == "seat20"
        networks = [found.subnet(name) for name in found.names]
        assert all(network.subnet_of(found.network) for network in networks)
        assert not any(a.overlaps(b) for a in networks for b in networks if a is not b)

    @pytest.mark.parametrize(
        ("name", "value", "right"),
        [
            ("FABRICLAB_SEATS", "0", "expected a whole number from 1 to 200"),
            ("FABRICLAB_SEATS", "many", "expected a whole number from 1 to 200"),
            ("FABRICLAB_SEAT_CPUS", "nan", "expected a number from 0.1 to 1024"),
            ("FABRICLAB_SEAT_MEMORY", "2 GB", "expected a size such as 1500M or 2G"),
            ("FABRICLAB_ROOM_NETWORK", "10.213.0.1/16", "expected one such as 10.213.0.0/16"),
            ("FABRICLAB_ROOM_NETWORK", "8.8.8.0/24", "is not a private network"),
            ("FABRICLAB_ROOM_NETWORK", "10.213.0.0/24", "is too small for 20 seats"),
        ],
    )
    def test_what_is_wrong_is_named(self, name: str, value: str, right: str) -> None:
        with pytest.raises(room.RoomError, match=re.escape(right)) as caught:
            room.read_room({**GOOD, name: value})
        assert f"{name}={value}" in str(caught.value)


def service() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(ROOT / "docker-compose.yml")["services"]["workshop"]
    return found


def default(value: str) -> str:
    """Return what Compose makes of a value where no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))


def test_compose_describes_a_room_on_loopback() -> None:
    described = service()
    assert room.read_room({name: default(value) for name, value in described["environment"].items()}).seats == 20
    assert [default(port) for port in described["ports"]] == ["127.0.0.1:8000:8000"]
    assert described["cap_drop"] == ["ALL"] and described["security_opt"] == ["no-new-privileges:true"]
    text = (WORKSHOP / "seats.py").read_text()
    assert (
        f'HUB_CONTAINER = "{described["container_name"]}"' in text and f'HUB_ALIAS = "{described["hostname"]}"' in text
    )


class Browser:
    """Somebody who logs in."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self._cookies)
        )

    def get(self, path: str, form: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        """Return status and text of a page."""
        data = None if form is None else urllib.parse.urlencode(form).encode()
        try:
            with self._opener.open(self._base + path, data, timeout=MANY_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, b""

    def login(self, name: str, word: str) -> int:
        """Return the status of the page that follows."""
        self.get("/hub/login")
        xsrf = next(str(cookie.value) for cookie in self._cookies if cookie.name == "_xsrf" and "hub" in cookie.path)
        return self.get("/hub/login?next=/hub/home", {"username": name, "password": word, "_xsrf": xsrf})[0]

    def sit_down(self, name: str) -> None:
        """Start the seat, and wait until it answers."""
        self.get("/hub/spawn")
        deadline = time.monotonic() + MANY_S
        while self.get(f"/user/{name}/lab")[0] != 200 or self.get(f"/user/{name}/api/status")[0] != 200:
            assert time.monotonic() < deadline, f"{name} does not start"
            time.sleep(0.5)


def run(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=MANY_S).stdout


def in_seat(name: str, script: str) -> str:
    return run("docker", "exec", f"fabriclab-{name}", "bash", "-c", script)


REACHES = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)
    print("reached")
except OSError:
    print("no")
"""


@pytest.mark.containers
@pytest.mark.xdist_group("containers")
class TestReal:
    """A room with two seats, with Docker and the images."""

    @pytest.fixture(scope="class")
    @staticmethod
    def cards() -> Iterator[dict[str, str]]:
        """A room that is open: names and passwords, read as the trainer reads them."""
        try:
            missing = [name for name in ("workshop", "seat") if image_identity(f"fabriclab/{name}:latest") is None]
        except EngineError as error:
            pytest.skip(f"NOT tested for real (sudo dockerd and make images bring it): {error}")
        if missing:
            pytest.skip(f"NOT tested for real: there is no image fabriclab/{missing[0]} (make images)")
        if run("docker", "volume", "ls", "--quiet", "--filter", "name=^fabriclab-room$"):
            pytest.skip("NOT tested for real: this host has a workshop of its own (the volume fabriclab-room)")
        environment = {name: default(value) for name, value in service()["environment"].items()}
        environment |= {"FABRICLAB_SEATS": "2", "FABRICLAB_SEAT_MEMORY": "1500M"}
        options = [f"--env={name}={value}" for name, value in environment.items()]
        rights = ["--cap-drop=ALL", "--security-opt=no-new-privileges:true", "--init", "--hostname=hub"]
        sockets = ["--volume=/var/run/docker.sock:/var/run/docker.sock", "--publish=127.0.0.1:8000:8000"]
        named = ["--detach", "--name=fabriclab-workshop", "fabriclab/workshop:latest"]
        try:
            run("docker", "run", *options, *rights, *sockets, *named)
            yield _read_cards()
        finally:
            _close()

    def test_only_a_card_lets_in(self, cards: dict[str, str]) -> None:
        assert set(cards) == {"trainer", "seat01", "seat02"}
        guest = Browser("http://127.0.0.1:8000")
        assert guest.login("seat01", "guess") == 403
        assert guest.login("seat01", cards["seat02"]) == 403
        assert guest.login("root", "") == 403

    def test_a_seat_is_its_participants_own(self, cards: dict[str, str]) -> None:
        people = {name: Browser("http://127.0.0.1:8000") for name in cards}
        for name, person in people.items():
            assert person.login(name, cards[name]) == 200
            person.sit_down(name)
        assert people["seat01"].get("/user/seat02/api/status")[0] == 403
        assert people["seat01"].get("/hub/admin")[0] == 403 and people["trainer"].get("/hub/admin")[0] == 200
        assert in_seat("seat01", "id -u").strip() == "1000"
        assert "CapBnd:\t0000000000000000" in in_seat("seat01", "cat /proc/self/status")
        described = json.loads(run("docker", "inspect", "fabriclab-seat01", "fabriclab-seat02"))
        assert [seat["HostConfig"]["Memory"] for seat in described] == [1500 << 20] * 2
        other = next(iter(described[1]["NetworkSettings"]["Networks"].values()))["IPAddress"]
        assert in_seat("seat02", f"python3 -c '{REACHES}' {other} 8888").strip() == "reached"
        assert in_seat("seat01", f"python3 -c '{REACHES}' {other} 8888").strip() == "no"
        in_seat("trainer", "cp -rL labs/incast room/mine")
        assert "experiment.yml" in in_seat("seat01", "ls room/mine")
        assert "Read-only" in in_seat("seat01", "touch room/theirs 2>&1 || true")
        in_seat("seat01", "fabriclab up room/mine --idle --out /tmp/live")
        assert "incast" in in_seat("seat01", "fabriclab ps") and "incast" not in in_seat("seat02", "fabriclab ps 2>&1")
        assert people["seat01"].get("/user/seat01/live/")[0] == 200
        assert people["seat02"].get("/user/seat01/live/")[0] == 403
        in_seat("seat01", "fabriclab down")


def _read_cards() -> dict[str, str]:
    deadline = time.monotonic() + MANY_S
    while True:
        said = subprocess.run(
            ["docker", "logs", "fabriclab-workshop"], capture_output=True, text=True, check=True, timeout=MANY_S
        )
        if "JupyterHub is now running" in said.stderr:
            return dict(re.findall(r"^  (\w+) +([a-z2-7]{12})$", said.stdout, re.M))
        assert time.monotonic() < deadline, said.stderr[-2000:]
        time.sleep(0.5)


def _close() -> None:
    """Remove the room: its containers, networks and volumes."""
    for listing, removal in (
        (["ps", "--all", "--quiet", "--filter", "name=^/fabriclab-(workshop|trainer|seat[0-9]+)$"], ["rm", "--force"]),
        (["network", "ls", "--quiet", "--filter", "label=fabriclab.workshop"], ["network", "rm"]),
        (["volume", "ls", "--quiet", "--filter", "name=^fabriclab-(home-|room$)"], ["volume", "rm"]),
    ):
        found = subprocess.run(["docker", *listing], capture_output=True, text=True, check=False).stdout.split()
        if found:
            subprocess.run(["docker", *removal, *found], capture_output=True, check=False)
