"""`fabriclab trace` and `fabriclab convert`."""

from __future__ import annotations

from pathlib import Path

import pytest
from chakra_traces import ALL_REDUCE, COMP, RankWriter, write_ranks
from repository import ROOT
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app

INCAST = str(ROOT / "labs" / "incast")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_trace_writes_to_the_output_or_to_a_file(tmp_path: Path) -> None:
    shown = call("trace", INCAST, "--set", "senders=2", "--seed", "3")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("# fabriclab-trace-1\nflow,start_ns,src,dst,")
    file = tmp_path / "trace.csv"
    assert call("trace", INCAST, "--set", "senders=2", "--seed", "3", "-o", str(file)).stdout == ""
    assert file.read_text() == shown.stdout


def test_the_summary_has_a_part_for_each_traffic() -> None:
    result = call("trace", INCAST, "--set", "senders=2", "--summary")
    assert result.exit_code == 0
    assert result.stdout.startswith("sru (rounds):\n  80 flows, 2 hosts to client\n")


def test_a_bad_setting_of_trace_is_bad_input() -> None:
    assert call("trace", INCAST, "--set", "senderz=2").exit_code == 2


@pytest.fixture
def hpcc(tmp_path: Path) -> str:
    file = tmp_path / "flow.txt"
    file.write_text("1\n0 1 3 100 3 2.5\n")
    return str(file)


def test_convert_names_the_hosts_that_it_chose(hpcc: str) -> None:
    result = call("convert", hpcc, "--from", "hpcc")
    assert result.exit_code == 0
    assert result.stdout.endswith("0,2500000000,h1,h2,4,,push,,,,hpcc\n")
    assert "nodes 0 to 1 are h1 to h2; --hosts chooses others\n" in result.stderr
    assert "flows smaller than 4 bytes, raised to 4 bytes (which carry the flow's number): 1\n" in result.stderr


@pytest.mark.parametrize("hosts", ["a8..a9", "a8,a9"])
def test_convert_takes_hosts(hpcc: str, hosts: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    assert call("convert", hpcc, "--from", "hpcc", "--hosts", hosts, "-o", str(file)).exit_code == 0
    assert file.read_text().endswith("0,2500000000,a8,a9,4,,push,,,,hpcc\n")


def test_convert_takes_a_transport(hpcc: str) -> None:
    result = call("convert", hpcc, "--from", "hpcc", "--transport", "roce")
    assert result.stdout.endswith("0,2500000000,h1,h2,4,,push,,,,hpcc,roce\n")
    assert call("convert", hpcc, "--from", "hpcc", "--transport", "udp").exit_code == 2


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ("a9..a8", "--hosts 'a9..a8': 'a9..a8' runs backwards; write 'a8..a9'"),
        ("a1,a1", "--hosts 'a1,a1': 'a1' twice; write a range or a list of names"),
        ("a1,", "--hosts 'a1,': an empty name; write a range or a list of names"),
        ("a1", "node 1 has no host; there are hosts only for nodes 0 to 0"),
    ],
)
def test_bad_hosts_are_bad_input(hpcc: str, hosts: str, message: str) -> None:
    result = call("convert", hpcc, "--from", "hpcc", "--hosts", hosts)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_file_that_is_no_text_is_bad_input(tmp_path: Path) -> None:
    file = tmp_path / "flow.txt"
    file.write_bytes(b"\xff\xfe")
    assert "it must be text, UTF-8" in call("convert", str(file), "--from", "htsim").stderr
    assert call("convert", str(tmp_path / "absent"), "--from", "htsim").exit_code == 2


def test_convert_takes_chakras_options(tmp_path: Path) -> None:
    ranks = [RankWriter() for _ in range(4)]
    for writer in ranks:
        writer.collective(ALL_REDUCE, 8000, writer.add(COMP, "matmul", num_ops=3_000_000, tensor_size=1), pg_name="7")
    prefix = write_ranks(tmp_path / "et", ranks)
    groups = tmp_path / "groups.json"
    groups.write_text('{"7": [0, 1, 2, 3]}')
    words = "--transport roce --algorithm all-reduce=halving-doubling --channels 2 --peak-tflops 1"
    result = call("convert", str(prefix), "--from", "chakra", *words.split(), "--groups", str(groups))
    assert result.exit_code == 0, result.stderr
    rows = result.stdout.splitlines()[2:]
    assert len(rows) == 4 * 4 * 2
    assert rows[0] == "0,3000,h1,h3,2000,,push,0.0,chakra/c0/r2/0.0.0,,all-reduce,roce"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--algorithm ring", "--algorithm 'ring': must be OPERATION=NAME, such as all-reduce=tree"),
        ("--dimensions 8x4", "--dimensions '8x4': must be numbers of ranks with commas between them, such as 8,4"),
        ("--groups absent.json", "--groups absent.json: no such file"),
        ("--chunks 2", "the options of chakra are not for it; leave them out"),
    ],
)
def test_bad_options_of_chakra_are_bad_input(hpcc: str, words: str, message: str) -> None:
    result = call("convert", hpcc, "--from", "hpcc", *words.split())
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")


def test_groups_that_are_no_json_are_bad_input(hpcc: str) -> None:
    result = call("convert", hpcc, "--from", "chakra", "--groups", hpcc)
    assert result.exit_code == 2
    assert "it must be JSON such as" in result.stderr
