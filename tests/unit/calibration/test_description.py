"""`calibration.yml`: defaults, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.calibration.description import TEMPLATE, read_description
from fabriclab.lab.reading.problems import Problems

RATES = "sender_rate: 25 Gbps\nreceiver_rate: 10 Gbps\n"


def mistakes(directory: Path, text: str) -> list[str]:
    (directory / "calibration.yml").write_text(text)
    problems = Problems()
    read_description(directory, problems)
    return [f"{each.line}: {each.key}: {each.message}" for each in problems.found()]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RATES + "bufer: 1 MB\n", "3: bufer: unknown key; did you mean 'buffer'?"),
        ("sender_rate: 25 Gbps\n", "receiver_rate: missing; write receiver_rate: 10 Gbps"),
        (RATES.replace("25", "10"), "2: receiver_rate: must be less than sender_rate, 10 Gbps"),
        (RATES + "buffer: 1 MB\necn_threshold: 2 MB\n", "4: ecn_threshold: must be below the buffer, 1 MB"),
        (RATES + "nic: {interrupt_delay: 20}\n", "3: nic.interrupt_delay:"),
        (RATES + "nic: {gro: off, interrupt_delay: 20 us}\n", "needs gro: on"),
        (RATES + "nic: {ring: 1 MB}\n", "3: nic.ring: unknown key"),
        (RATES + "fit: [delay, bufer]\n", "'bufer' is no parameter of the model; did you mean 'buffer'?"),
    ],
)
def test_a_mistake_names_its_line_and_what_would_be_right(tmp_path: Path, text: str, said: str) -> None:
    found = mistakes(tmp_path, text)
    assert any(said in each for each in found), found


def test_the_template_is_a_description_and_so_are_its_comments(tmp_path: Path) -> None:
    assert mistakes(tmp_path, TEMPLATE) == []
    optional = ("mtu", "delay", "buffer", "ecn_threshold", "non_ect", "nic", "fit")
    lines = [line.removeprefix("# ") for line in TEMPLATE.splitlines()]
    keys = [line for line in lines if line.partition(":")[0] in (*optional, "sender_rate", "receiver_rate")]
    assert len(keys) == 9
    (tmp_path / "calibration.yml").write_text("\n".join(keys))
    problems = Problems()
    found = read_description(tmp_path, problems)
    assert found is not None, problems.found()
    assert (found.mtu_bytes, found.delay_ns, found.buffer_bytes, found.threshold_bytes) == (1500, 500, 10**6, 10**5)
