"""The model: a lab of two hosts and a switch, on which the protocol runs as on hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from fabriclab.api.lab import Lab
from fabriclab.api.progress import ProgressCallback
from fabriclab.api.run import run
from fabriclab.calibration.description import Description
from fabriclab.calibration.measured import Measured, read_measured
from fabriclab.calibration.numbers import PHASES
from fabriclab.engine.interrupt import Interrupt
from fabriclab.lab.reading.problems import Problems
from fabriclab.units import format_duration, format_rate, format_size

PROTOCOL = Path(__file__).with_name("protocol.sh")
"""The script, as the reader's servers run it."""
_IN_NODE = "/protocol.sh"
_HOST: dict[str, Any] = {"kind": "linux", "binds": [f"{PROTOCOL.name}:{_IN_NODE}"]}


@dataclass(frozen=True)
class Parameters:
    """The parameters of the model that a calibration changes."""

    delay_ns: int
    """One way, on each of the two links."""
    interrupt_delay: int | Literal["adaptive"]
    """Nanoseconds, or `adaptive`."""
    buffer_bytes: int
    threshold_bytes: int | None
    non_ect: str

    def texts(self) -> dict[str, str]:
        """Return them as a lab writes them."""
        return {
            "delay": format_duration(self.delay_ns),
            "interrupt_delay": (
                "adaptive" if self.interrupt_delay == "adaptive" else format_duration(self.interrupt_delay)
            ),
            "buffer": format_size(self.buffer_bytes),
            "ecn_threshold": "none" if self.threshold_bytes is None else format_size(self.threshold_bytes),
            "non_ect": self.non_ect,
        }


class Model:
    """Runs the protocol on a lab of the described servers."""

    def __init__(
        self, description: Description, seconds: int, progress: ProgressCallback | None, cancel: Interrupt | None
    ) -> None:
        """Take how long each phase sends, in seconds, and what follows and stops the runs."""
        self._description = description
        self._seconds = seconds
        self._progress = progress
        self._cancel = cancel
        self.runs = 0
        """How many were made."""

    def measure(self, parameters: Parameters, phases: Sequence[str] = PHASES) -> Measured:
        """Return the numbers of these phases in the model. Nothing of the run stays.

        Raises KeyboardInterrupt if it was stopped, and otherwise what `run` raises.
        """
        self.runs += 1
        with TemporaryDirectory(prefix="fabriclab-calibrate-") as made:
            directory = Path(made)
            (directory / PROTOCOL.name).write_bytes(PROTOCOL.read_bytes())
            topology = network(self._description, parameters, f"calibration-run-{self.runs}")
            lab = Lab.from_data(topology, self._experiment(parameters, phases), directory)
            done = run(lab, out=directory / "run", progress=self._progress, cancel=self._cancel)
            if done.status == "interrupted":
                raise KeyboardInterrupt
            problems = Problems()
            measured = read_measured(directory / "run" / "output", problems)
            problems.raise_if_any()
            assert measured is not None
            return measured

    def _experiment(self, parameters: Parameters, phases: Sequence[str]) -> dict[str, Any]:
        serve = {"kind": "program", "node": "b", "argv": ["bash", _IN_NODE, "serve"], "serves": True}
        words = ["bash", _IN_NODE, "measure", "b", str(self._seconds), *phases]
        ask = {"kind": "program", "node": "a", "argv": words, "after": "serve:5201", "output": "measured.txt"}
        return {
            "title": "The calibration protocol in the model",
            **settings(self._description, parameters),
            "traffic": {"serve": serve, "measure": ask},
        }


def network(description: Description, parameters: Parameters, name: str) -> dict[str, Any]:
    """Return the topology: server A, server B and the switch."""
    link = {"delay": format_duration(parameters.delay_ns)}
    return {
        "name": name,
        "topology": {
            "nodes": {"a": _HOST, "b": _HOST, "s1": {"kind": "linux", "labels": {"fabriclab.role": "switch"}}},
            "links": [
                {
                    "endpoints": [f"{host}:eth1", f"s1:eth{port}"],
                    "vars": {"rate": format_rate(rate_bps), **link},
                    "mtu": description.mtu_bytes,
                }
                for port, (host, rate_bps) in enumerate(
                    (("a", description.sender_rate_bps), ("b", description.receiver_rate_bps)), 1
                )
            ],
        },
    }


def settings(description: Description, parameters: Parameters) -> dict[str, Any]:
    """Return the sections of an experiment that describe the switch's ports and the NICs."""
    texts = parameters.texts()
    tso_bytes = description.nic.tso_bytes
    nic = {"tso": "off" if tso_bytes is None else format_size(tso_bytes), "gro": description.nic.gro}
    if description.nic.gro:
        nic["interrupt_delay"] = texts["interrupt_delay"]
    switch = {"buffer": texts["buffer"], "ecn_threshold": texts["ecn_threshold"]}
    if parameters.threshold_bytes is not None:
        switch["non_ect"] = texts["non_ect"]
    return {"switches": {"default": switch}, "hosts": {"default": {"nic": nic}}}
