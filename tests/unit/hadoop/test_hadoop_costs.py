"""What disks and processors take of Hadoop's processes: the lab, the environment, the library, the parts of a job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from repository import ROOT
from sample_plans import changed, star
from sample_traffic import KINDS, MS
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import compile_job
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic, ProgramTraffic
from fabriclab.formats.plan.traffic.hadoop import HadoopCosts
from fabriclab.hadoop.results.costs import read_costs
from fabriclab.hadoop.results.times import TIME_COLUMNS, job_times
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ResultsError

LAB = ROOT / "labs" / "hadoop"
PRELOAD = ROOT / "images/machine/preload"
FREE = HadoopCosts(
    disk_bytes_per_s=0,
    seek_ns=0,
    extent_bytes=1 << 20,
    page_cache_bytes=0,
    map_ns_per_mb=0,
    spill_ns_per_mb=0,
    merge_ns_per_mb=0,
    reduce_ns_per_mb=0,
    jvm_start_ns=0,
)


def cluster_of(*settings: str) -> HadoopTraffic:
    plan = resolve_plan(parse_lab(LAB), dict(one.split("=", 1) for one in settings))
    (cluster,) = (each for each in plan.traffic if isinstance(each, HadoopTraffic))
    return cluster


def test_a_scale_divides_rates_and_multiplies_what_a_byte_takes() -> None:
    whole, scaled = (
        cluster_of(f"traffic.hadoop.costs.scale={scale}", "traffic.hadoop.costs.disk=100 MB").costs
        for scale in ("1", "1/25")
    )
    assert whole is not None and scaled is not None
    assert (whole.disk_bytes_per_s, scaled.disk_bytes_per_s) == (100_000_000, 4_000_000)
    assert scaled.map_ns_per_mb == 25 * whole.map_ns_per_mb > 0
    assert (scaled.seek_ns, scaled.jvm_start_ns) == (whole.seek_ns, whole.jvm_start_ns), "times stay"
    assert cluster_of("traffic.hadoop.costs=none").costs is None


def test_what_is_no_cost_is_named() -> None:
    for setting, right in (
        ("traffic.hadoop.costs.scale=0", "a factor from 1/1000000 to 1000"),
        ("traffic.hadoop.costs.disc=1 MB", "'disc' is unknown"),
        ("traffic.hadoop.costs.map=1 MB", "write a duration"),
        ("traffic.hadoop.costs=free", "or 'none', not 'free'"),
    ):
        wrong = CliRunner().invoke(app, ["plan", str(LAB), "--set", setting])
        assert wrong.exit_code != 0 and right in " ".join(wrong.output.split()), wrong.output


def test_daemons_are_charged_from_the_last_step_before_the_traffic_on() -> None:
    cluster = KINDS["hadoop"]
    setup = compile_job(star(7, traffic=(changed(cluster, costs=FREE, dscp=24),)))["setup"]
    words = next(step for step in setup if step["program"]["name"] == "cluster-datanode@h3")["program"]["argv"]
    assert {"LD_PRELOAD=/tools/program.so", "FABRICLAB_DSCP=24", "FABRICLAB_COSTS=0,0,1048576,0,0,0,0,0,0"} <= {*words}
    assert [step["program"]["name"] for step in setup[-6:]] == [f"cluster-costs-h{n}@h{n}" for n in range(1, 7)]
    free = compile_job(star(7, traffic=(cluster,)))["setup"]
    assert not [word for step in free for word in step["program"]["argv"] if "LD_PRELOAD" in word]


def test_programs_send_in_the_class_that_the_lab_says() -> None:
    program = KINDS["program"]
    assert isinstance(program, ProgramTraffic)

    def words(plan: Plan) -> list[str]:
        job = compile_job(plan)
        return next(one["argv"] for one in job["traffic"] if program.name in one["name"])

    classed = words(star(7, traffic=(changed(program, dscp=46),)))
    assert {"--env=LD_PRELOAD=/tools/program.so", "--env=FABRICLAB_DSCP=46"} <= {*classed}
    assert not any("LD_PRELOAD" in word for word in words(star(7, traffic=(program,))))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library with a directory of the test's in place of a node's /data."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    place = tmp_path_factory.mktemp("program")
    data = f'-DDISK="{place}/"'
    sources = [str(PRELOAD / f"{name}.c") for name in ("calls", "charges", "costs", "disk", "dscp")]
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", data, "-o", str(place / "program.so"), *sources],
        check=True,
    )
    return place


def charged(library: Path, tmp_path: Path, costs: HadoopCosts, script: str, *words: str) -> list[tuple[str, int, int]]:
    """Run Python under the name of a JVM, and return what was charged: what, how long, bytes."""
    (library / "costs").write_bytes(b"1")
    for name, text in (("spill.out", ""), ("big", "x" * 1_000_000)):
        (library / name).write_text(text)
    logs = tmp_path / "raw/costs/cluster"
    logs.mkdir(parents=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library / "program.so"),
        "FABRICLAB_COSTS": ",".join(map(str, costs.numbers())),
        "FABRICLAB_COSTS_LOG": str(logs),
        "CONTAINER_ID": "container_1",
        "HERE": str(library),
        # Python looks for its own files by its name, which is not java.
        "PYTHONHOME": sys.base_prefix,
    }
    argv = ["-c", f"import os, socket; here = os.environ['HERE']; {script}", *words]
    subprocess.run(["java", *argv], executable=sys.executable, env=environment, check=True)
    return [
        (str(row["what"]), row["end_ns"] - row["start_ns"], row["bytes"]) for row in read_costs(tmp_path, "cluster", 0)
    ]


def test_what_a_process_reads_from_its_disk_takes_as_long_as_the_disk(library: Path, tmp_path: Path) -> None:
    costs = replace(FREE, disk_bytes_per_s=100_000_000, seek_ns=2 * MS)
    read = "file = os.open(here + '/big', os.O_RDONLY); [os.read(file, 100_000) for _ in range(10)]"
    found = charged(library, tmp_path, costs, read)
    assert {what for what, _, _ in found} == {"disk-read"} and sum(size for _, _, size in found) == 1_000_000
    assert sum(took_ns for _, took_ns, _ in found) >= 12 * MS, "ten at 100 MB a second, and one seek"


def test_what_was_written_lately_is_read_from_memory(library: Path, tmp_path: Path) -> None:
    costs = replace(FREE, disk_bytes_per_s=100_000_000, page_cache_bytes=10_000_000)
    script = "open(here + '/new', 'wb').write(b'x' * 500_000); open(here + '/new', 'rb').read()"
    assert charged(library, tmp_path, costs, script) == []


def test_a_writer_waits_for_the_disk_when_too_much_is_to_be_written(library: Path, tmp_path: Path) -> None:
    costs = replace(FREE, disk_bytes_per_s=100_000_000, page_cache_bytes=1_000_000)
    ((what, took_ns, _),) = charged(
        library, tmp_path, costs, "open(here + '/new', 'wb', buffering=0).write(b'x' * 1_000_000)"
    )
    assert what == "disk-write" and 7 * MS < took_ns <= 8 * MS, "all but the fifth that may wait"


def test_a_task_computes_for_what_it_spills_and_for_its_start(library: Path, tmp_path: Path) -> None:
    costs = replace(FREE, spill_ns_per_mb=20 * MS, jvm_start_ns=5 * MS)
    write = "open(here + '/attempt_1_spill_0.out', 'wb', buffering=0).write(b'x' * 500_000)"
    found = charged(library, tmp_path, costs, write, "YarnChild")
    assert sorted(found) == [("spill", 10 * MS, 500_000), ("start", 5 * MS, 0)]


def test_a_daemon_computes_for_nothing(library: Path, tmp_path: Path) -> None:
    costs = replace(FREE, spill_ns_per_mb=20 * MS, jvm_start_ns=5 * MS)
    assert charged(library, tmp_path, costs, "open(here + '/file.out', 'wb').write(b'x')", "DataNode") == []


def test_sockets_have_the_class_of_their_program(library: Path) -> None:
    script = """
import socket
for family, level, option in (socket.AF_INET, socket.IPPROTO_IP, socket.IP_TOS), (
    socket.AF_INET6, socket.IPPROTO_IPV6, socket.IPV6_TCLASS
):
    print(socket.socket(family).getsockopt(level, option))
"""
    environment = {**os.environ, "LD_PRELOAD": str(library / "program.so"), "FABRICLAB_DSCP": "24"}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["96", "96"]


def test_a_file_that_is_none_of_costs_is_named(tmp_path: Path) -> None:
    (tmp_path / "raw/costs/cluster").mkdir(parents=True)
    (tmp_path / "raw/costs/cluster/h1.datanode.csv").write_text("what\nmap,1,2,3\n")
    with pytest.raises(ResultsError, match=r"raw/costs/cluster/h1\.datanode\.csv"):
        list(read_costs(tmp_path, "cluster", 0))


JOB = {"job_id": "job_1", "submit_ns": 0, "end_ns": 100}


def attempt(name: str, start: int, end: int, task: str = "map") -> dict[str, object]:
    common = {"job_id": "job_1", "container": f"c-{name}", "node": "h1", "task": task}
    return {"attempt": name, "start_ns": start, "end_ns": end, **common}


def cost(process: str, what: str, start: int, end: int, node: str = "h1") -> dict[str, object]:
    return {"node": node, "process": process, "what": what, "start_ns": start, "end_ns": end}


def test_a_job_s_time_is_divided_and_adds_up() -> None:
    transfer = {"phase": "hdfs-read", "src": "d1", "dst": "h1", "start_ns": 30, "end_ns": 60, "of": "a"}
    costs = [
        cost("c-a", "map", 20, 35),
        cost("datanode", "disk-read", 40, 50, "d1"),
        cost("datanode", "disk-read", 62, 64, "d1"),
    ]
    parts = job_times(JOB, [attempt("a", 10, 70)], [transfer], costs)
    # Before 10 and after 70 nobody runs; the disk that serves it counts as long as it does.
    assert parts == {"cpu_ns": 15, "disk_ns": 10, "network_ns": 15, "waiting_ns": 60}
    assert tuple(parts) == TIME_COLUMNS


def test_attempts_that_run_together_share_an_instant() -> None:
    parts = job_times(JOB, [attempt("a", 0, 100), attempt("b", 50, 100)], [], [cost("c-b", "spill", 50, 100)])
    assert parts == {"cpu_ns": 25, "disk_ns": 0, "network_ns": 0, "waiting_ns": 75}


def test_a_master_that_starts_computes_when_no_task_runs() -> None:
    master = {**attempt("am", 0, 100, "master"), "attempt": "c-am"}
    parts = job_times(JOB, [master, attempt("a", 40, 100)], [], [cost("c-am", "start", 5, 45)])
    assert (parts["cpu_ns"], parts["waiting_ns"]) == (35, 65)


def test_a_job_without_an_end_has_no_parts() -> None:
    assert job_times({**JOB, "end_ns": None}, [], [], []) == {}
