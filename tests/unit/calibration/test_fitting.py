"""The fit, against a model whose round trips follow from its parameters by a formula."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.calibration import calibrate as calibrating
from fabriclab.calibration.calibrate import calibrate
from fabriclab.calibration.measured import Measured
from fabriclab.calibration.model import Model, Parameters
from fabriclab.calibration.numbers import NUMBERS, error_of

RATE_BPS = 10**10
PER_ACK = {"adaptive": 30.0, 0: 2.0, 5_000: 5.0, 10_000: 9.0, 20_000: 15.0}
HARDWARE = Parameters(1_500, 10_000, 800_000, 150_000, "queue")
DESCRIPTION = "sender_rate: 25 Gbps\nreceiver_rate: 10 Gbps\nbuffer: 2 MB\necn_threshold: 60 KB\n"


def numbers(parameters: Parameters) -> dict[str, float]:
    """Return the formula's numbers: each queue is nearly as long as its parameter."""
    interrupts = 0 if parameters.interrupt_delay == "adaptive" else parameters.interrupt_delay
    idle = 3 + 4 * parameters.delay_ns / 1000 + 2 * interrupts / 1000
    marks = parameters.threshold_bytes or 0
    full = marks if parameters.non_ect == "drop" and marks else parameters.buffer_bytes
    return {
        "idle_rtt_us": idle,
        "goodput_one_mbps": 9400.0,
        "segments_per_ack": PER_ACK[parameters.interrupt_delay],
        "goodput_eight_mbps": 9400.0,
        "fairness_eight": 0.9,
        "rtt_eight_median_us": idle + 0.8 * full * 8e6 / RATE_BPS,
        "rtt_eight_p99_us": idle + 0.98 * full * 8e6 / RATE_BPS,
        "retransmitted_eight_percent": 0.5,
        "rtt_dctcp_median_us": idle + 0.9 * marks * 8e6 / RATE_BPS,
        "marked_dctcp_percent": 3.0 if marks else 0.0,
    }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory with a description, whose model and hardware are the formula."""

    def measure(self: Model, parameters: Parameters, phases: object = None) -> Measured:
        self.runs += 1
        return Measured(2, "6.12.1", numbers(parameters), {})

    monkeypatch.setattr(Model, "measure", measure)
    (tmp_path / "calibration.yml").write_text(DESCRIPTION)
    return tmp_path


def measured_is(monkeypatch: pytest.MonkeyPatch, values: dict[str, float]) -> None:
    monkeypatch.setattr(calibrating, "read_measured", lambda *_: Measured(2, "6.1.0", values, {}))


def test_the_fit_finds_the_parameters_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured_is(monkeypatch, numbers(HARDWARE))
    found = calibrate(place).fitted
    assert found.interrupt_delay == HARDWARE.interrupt_delay
    assert abs(found.delay_ns - HARDWARE.delay_ns) <= 250  # ping's resolution of 1 us, over four links
    assert found.buffer_bytes == pytest.approx(HARDWARE.buffer_bytes, rel=0.03)
    assert found.threshold_bytes == pytest.approx(HARDWARE.threshold_bytes, rel=0.03)
    assert found.non_ect == "queue"
    assert "buffer: " in (place / "calibrated.yml").read_text()
    assert (place / "calibrated.json").read_text().startswith('{\n  "format": "fabriclab-calibrated-1"')


def test_parameters_that_cannot_be_seen_stay_and_say_why(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = numbers(HARDWARE) | {"retransmitted_eight_percent": 0.0, "marked_dctcp_percent": 0.0}
    measured_is(monkeypatch, values)
    result = calibrate(place)
    assert result.fitted.buffer_bytes == 2_000_000
    assert result.fitted.threshold_bytes == 60_000
    assert "did not fill it" in result.unfitted["buffer"]
    assert result.unfitted["ecn_threshold"] == "the switch marked nothing"
    assert not result.is_fitted("rtt_eight_p99_us")
    assert result.is_fitted("idle_rtt_us")


def test_absent_numbers_fit_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured_is(monkeypatch, {})
    result = calibrate(place)
    assert result.fitted == result.described
    assert set(result.unfitted.values()) == {"its number is absent"}
    assert result.runs == 1


def test_the_buffer_cannot_be_seen_where_the_threshold_drops(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dropping = Parameters(1_500, 10_000, 800_000, 150_000, "drop")
    measured_is(monkeypatch, numbers(dropping))
    result = calibrate(place)
    assert result.fitted.non_ect == "drop"
    assert "never fill it" in result.unfitted["buffer"]
    assert result.fitted.threshold_bytes == pytest.approx(150_000, rel=0.03)


def test_an_error_is_a_share_or_a_difference_and_none_of_zero() -> None:
    share, difference = NUMBERS[0], NUMBERS[-1]
    assert error_of(share, 100, 110) == pytest.approx(10)
    assert error_of(share, 0, 110) is None
    assert error_of(difference, 0, 1.5) == 1.5
