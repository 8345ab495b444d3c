"""`fabriclab calibrate` in the virtual machine: a model of known parameters is the hardware, and another one is fitted
to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.calibration import model as modelling
from fabriclab.calibration.calibrate import calibrate
from fabriclab.calibration.description import Description, Nic
from fabriclab.calibration.measured import Measured, read_measured
from fabriclab.calibration.model import Model, Parameters
from fabriclab.lab.reading.problems import Problems

pytestmark = pytest.mark.vm

HARDWARE = Parameters(20_000, "adaptive", 300_000, 60_000, "queue")
SERVERS = Description(10**9, 10**8, 1500, 20_000, None, None, None, Nic(65_536, True, "adaptive"), ())
WRONG = """\
sender_rate: 1 Gbps
receiver_rate: 100 Mbps
delay: 1 us
buffer: 700 KB
ecn_threshold: 30 KB
fit: [delay, buffer, ecn_threshold, non_ect]
"""


@pytest.mark.slow("measures four times in the virtual machine, 8 s of virtual time each")
def test_a_wrong_description_is_fitted_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(directory: Path, problems: Problems) -> Measured | None:
        (tmp_path / "measured.txt").write_bytes((directory / "measured.txt").read_bytes())
        return read_measured(directory, problems)

    with monkeypatch.context() as patch:
        patch.setattr(modelling, "read_measured", kept)
        hardware = Model(SERVERS, 2, None, None).measure(HARDWARE)
    assert not hardware.absent
    (tmp_path / "calibration.yml").write_text(WRONG)
    result = calibrate(tmp_path)
    assert not result.unfitted.keys() - {"interrupt_delay"}
    found = result.fitted
    # Ping writes whole microseconds below 1 ms; a round trip passes four links.
    assert abs(found.delay_ns - HARDWARE.delay_ns) <= 500
    # Ping writes steps of 100 us above 10 ms, which are 1,250 bytes here; the fit ends within 2 % of a round trip, and
    # the 99th percentile of 180 pings is one of the two longest.
    assert found.buffer_bytes == pytest.approx(HARDWARE.buffer_bytes, rel=0.05)
    # The queue of one DCTCP flow moves by several frames around the threshold, and its median with it.
    assert found.threshold_bytes == pytest.approx(HARDWARE.threshold_bytes, rel=0.15)
    assert found.non_ect == "queue"
    assert (tmp_path / "calibrated.json").is_file()
