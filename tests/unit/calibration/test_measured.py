"""`measured.txt`: the ten numbers of a real output, and what is said of one that is cut, changed or incomplete."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.calibration.measured import Measured, read_measured
from fabriclab.calibration.numbers import NUMBERS
from fabriclab.lab.reading.problems import Problems

OUTPUT = (Path(__file__).parent / "measured.txt").read_text()
"""What the protocol wrote in a lab with ports of 1 Gbps and 100 Mbps, 300 KB of buffer and a threshold of 60 KB."""


def read(directory: Path, text: str) -> tuple[Measured | None, list[str]]:
    (directory / "measured.txt").write_text(text)
    problems = Problems()
    found = read_measured(directory, problems)
    return found, [f"{each.line}: {each.message}" for each in problems.found()]


def without(phase: str, kind: str, replacement: str = "") -> str:
    """Return the output with a section replaced."""
    head, _, rest = OUTPUT.partition(f"== {phase} {kind}\n")
    return f"{head}{replacement}== {rest.partition(chr(10) + '== ')[2]}"


def test_a_real_output_has_all_ten_numbers(tmp_path: Path) -> None:
    found, problems = read(tmp_path, OUTPUT)
    assert found is not None
    assert not problems
    assert set(found.values) == {number.name for number in NUMBERS}
    # 1448 of 1538 bytes of each frame are data.
    assert found.values["goodput_one_mbps"] == pytest.approx(94.1, rel=0.01)
    assert found.values["goodput_eight_mbps"] == pytest.approx(94.1, rel=0.01)
    # 300 KB and 60 KB at 100 Mbps.
    assert found.values["rtt_eight_p99_us"] == pytest.approx(24_000, rel=0.03)
    assert found.values["rtt_dctcp_median_us"] == pytest.approx(4_800, rel=0.1)
    assert 0 < found.values["marked_dctcp_percent"] < 20
    assert 0.9 < found.values["fairness_eight"] <= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: must be 'fabriclab-calibration 1'"),
        ("PING b (10.0.0.3)\n", "not 'PING b (10.0.0.3)'"),
        (OUTPUT[: len(OUTPUT) // 2], "ends without `== end`"),
        (OUTPUT.replace("seconds 2", "seconds 1"), "2: 'seconds 1' is not right"),
        (OUTPUT.replace("== eight ping", "== nine ping"), "'== nine ping' is not a section of the protocol"),
        (OUTPUT + OUTPUT, "stands behind `== end`"),
        (OUTPUT.replace("== one before", "== one before\nNetid State"), "'Netid State' is not a line of ss"),
        (OUTPUT.replace(" time=", " time=x", 1), "is not a line of ping"),
        (OUTPUT.replace("bytes from", "bytes of", 1), "ping counts"),
    ],
)
def test_a_file_that_is_no_output_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    found, problems = read(tmp_path, text)
    assert found is None
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("text", "number", "reason"),
    [
        (without("idle", "ping"), "idle_rtt_us", "the file has no section `== idle ping`"),
        (
            without(
                "idle",
                "ping",
                "== idle ping\n10 packets transmitted, 5 received, 50% packet loss\n"
                + "64 bytes from 10.0.0.3: icmp_seq=1 ttl=64 time=0.03 ms\n" * 5,
            ),
            "idle_rtt_us",
            "only 5 of 10 pings were answered; at least 90 % are needed",
        ),
        (
            without("dctcp", "before", "== dctcp absent\nonly root may choose DCTCP\n"),
            "marked_dctcp_percent",
            "only root may choose DCTCP",
        ),
        (OUTPUT.replace(" dctcp:(", " dctcp:fallback_mode x("), "rtt_dctcp_median_us", "DCTCP got no ECN"),
        (OUTPUT.replace("data_segs_out", "data"), "goodput_one_mbps", "no flow sent anything"),
    ],
)
def test_an_absent_number_has_its_reason(tmp_path: Path, text: str, number: str, reason: str) -> None:
    found, problems = read(tmp_path, text)
    assert found is not None, problems
    assert number not in found.values
    assert reason in found.absent[number]


def test_an_output_from_outside_of_a_lab_has_all_but_dctcp(tmp_path: Path) -> None:
    """Two network namespaces, veth, and tbf with 100 Mbps and 300 KB at the sender."""
    found, problems = read(tmp_path, (Path(__file__).parent / "outside.txt").read_text())
    assert found is not None, problems
    assert set(found.absent) == {"rtt_dctcp_median_us", "marked_dctcp_percent"}
    assert "modprobe tcp_dctcp" in found.absent["marked_dctcp_percent"]
    # tbf counts the 14 bytes of Ethernet's header alone: 1448 of 1514 bytes are data. A busy host loses some tokens.
    assert 90 < found.values["goodput_one_mbps"] <= 95.7
    assert found.values["rtt_eight_p99_us"] == pytest.approx(24_000, rel=0.1)


def test_a_flow_that_stands_still_counts_for_jains_index(tmp_path: Path) -> None:
    head, _, tail = OUTPUT.partition("== eight after\n")
    lines = tail.split("\n")
    lost = next(index for index, line in enumerate(lines) if "data_segs_out:1" in line)
    found, problems = read(tmp_path, f"{head}== eight after\n" + "\n".join(lines[:lost] + lines[lost + 1 :]))
    assert found is not None, problems
    assert found.values["fairness_eight"] < 0.9


def test_a_link_out_of_the_directory_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text(OUTPUT)
    (tmp_path / "rack").mkdir()
    (tmp_path / "rack" / "measured.txt").symlink_to(tmp_path / "outside.txt")
    problems = Problems()
    assert read_measured(tmp_path / "rack", problems) is None
    assert "lies outside the lab's directory" in problems.found()[0].message
