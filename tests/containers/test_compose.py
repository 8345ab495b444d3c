"""The services of docker-compose.yml: what they may do, and that they do their work with it."""

from __future__ import annotations

import re
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from patience import patient
from ruamel.yaml import YAML

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.command import run_command
from fabriclab.engine.containers.docker import image_identity

FILE = Path(__file__).parents[2] / "docker-compose.yml"
MANY_S = patient(300)
real = [pytest.mark.containers, pytest.mark.xdist_group("containers")]


def service(name: str) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(FILE)["services"][name]
    return found


def default(value: str) -> str:
    """Return what Compose makes of a value where no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def run_argv(name: str, runs: Path, *options: str) -> list[str]:
    """Return the `docker run` that does what Compose does for a service."""
    described = service(name)
    try:
        if image_identity(described["image"]) is None:
            pytest.skip(f"NOT tested for real: there is no image {described['image']} (make images)")
    except EngineError as error:
        pytest.skip(f"NOT tested for real (sudo dockerd and make images bring it): {error}")
    runs.mkdir()
    runs.chmod(0o777)
    rights = [f"--cap-drop={word}" for word in described["cap_drop"]] + [
        f"--security-opt={word}" for word in described["security_opt"]
    ]
    network = [f"--network={described['network_mode']}"] if "network_mode" in described else []
    memory = f"--shm-size={described['shm_size'].removesuffix('b')}"
    volume = f"--volume={runs}:/home/fabriclab/runs"
    user = f"--user={default(described['user'])}"
    return ["docker", "run", "--rm", "--init", user, *rights, *network, memory, volume, *options, described["image"]]


@pytest.mark.parametrize("name", ["lab", "notebook"])
def test_services_have_no_rights(name: str) -> None:
    described = service(name)
    assert described["cap_drop"] == ["ALL"] and described["security_opt"] == ["no-new-privileges:true"]
    assert default(described["user"]).split(":")[0] == "1000"
    assert not {"privileged", "cap_add", "devices", "pid", "ipc"} & set(described)


def test_the_images_have_what_installs_the_package() -> None:
    """An editable install asks for the hook that pyproject.toml names."""
    root = FILE.parent
    hook = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]
    listed = re.search(r"fabriclab_sources\(\) \{.*?\n\}", (root / "images" / "build").read_text(), re.S)
    assert listed is not None and hook["custom"]["path"] in listed[0]


def test_the_notebook_is_published_on_loopback_only() -> None:
    assert [default(port) for port in service("notebook")["ports"]] == ["127.0.0.1:8888:8888"]
    assert service("lab")["network_mode"] == "none"


class TestReal:
    """With Docker and the images."""

    pytestmark = real

    def test_a_lab_runs_in_an_unprivileged_container(self, tmp_path: Path) -> None:
        words = [
            "run",
            "labs/dctcp-queue",
            "--set",
            "variant=dctcp",
            "--set",
            "traffic.long.stop=200 ms",
            "--out",
            "runs/a",
        ]
        run_command([*run_argv("lab", tmp_path / "runs"), *words], timeout_s=MANY_S)
        assert (tmp_path / "runs" / "a" / "summary.json").is_file()
        assert (tmp_path / "runs" / "a").stat().st_uid == 1000

    def test_the_notebook_server_wants_a_token(self, tmp_path: Path) -> None:
        argv = run_argv(
            "notebook", tmp_path / "runs", "--detach", "--publish=127.0.0.1::8888", "--env=JUPYTER_TOKEN=open-sesame"
        )
        container = run_command(argv, timeout_s=MANY_S).decode().strip()
        try:
            address = run_command(["docker", "port", container, "8888"], timeout_s=MANY_S).decode().splitlines()[0]
            notebook = f"http://{address}/api/contents/analysis/start.ipynb?content=0"
            assert await_answer(notebook + "&token=open-sesame") == 200
            assert await_answer(notebook) == 403
            assert await_answer(notebook + "&token=guess") == 403
        finally:
            subprocess.run(["docker", "rm", "--force", container], capture_output=True, check=False)


def await_answer(address: str) -> int:
    """Return the status of a page, asked for until the server is there."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + MANY_S
    while True:
        try:
            with opener.open(address, timeout=MANY_S) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            assert time.monotonic() < deadline, f"{address} does not answer"
            time.sleep(0.2)
