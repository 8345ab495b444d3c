"""A lab for sweeps on a cluster, with a stand-in for the machine, and what is asked of the runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fake_machine
import pair_lab
import pytest

import fabriclab

LAB = pair_lab.EXPERIMENT + "matrix: {demo: {rounds: [1, 2, 3, 4]}}\n"
# A trace has two lines before its flows: `rounds` is 3 for one round.
ROUNDS = """rounds=$(grep -c '' "$job/traffic/trace.csv")
is_known=$(grep -c h4 "$job/traffic/hosts.csv")
"""
LOGS = """if [ "$is_known" = 0 ]; then
for host in h1 h2; do
  printf '%s\\n' '# fabriclab-flows-2' 'flow,side,status,start_ns,connected_ns,first_byte_ns,end_ns,bytes,retransmits,'\
'timeouts,marks,delivered,min_rtt_us,srtt_us,transport,subflows' > "$job/raw/flows/$host.csv"
done
grep -E '^[0-9]' "$job/traffic/trace.csv" | while IFS=, read -r flow start src dst size rest; do
  echo "$flow,src,complete,,,10,2500000,$size,0,0,0,178,100,200,tcp," >> "$job/raw/flows/h1.csv"
  echo "$flow,dst,complete,$start,,20,2500000,$size,,,,,,,tcp," >> "$job/raw/flows/h2.csv"
done
fi
"""
RUN = fake_machine.EPOCH + 'echo 6.12.43 > "$job/collect/kernel-release"\n' + LOGS + fake_machine.END


class Told(list[fabriclab.ProgressEvent]):
    """What a sweep told."""

    @property
    def notices(self) -> str:
        return "\n".join(event.text for event in self if isinstance(event, fabriclab.Notice))


class Bench:
    """A lab, and what its machine does."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory, self._monkeypatch = directory, monkeypatch
        self.lab = fabriclab.Lab.from_yaml(pair_lab.TOPOLOGY, LAB)
        self.told = Told()
        monkeypatch.setenv("XDG_CACHE_HOME", str(directory))
        (directory / "fabriclab").symlink_to("cache")
        monkeypatch.chdir(directory)

    def machine(self, body: str) -> None:
        """Let machines do this. Each body is a kernel of its own, by its hash."""
        found = fake_machine.artefacts(self.directory, body)
        self._monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: found)

    def hide(self) -> None:
        """Let no worker see the sweep's directory: what they are told to look for is not there."""
        self._monkeypatch.setattr("fabriclab.cluster.sweeping.told_of", lambda token: f"{token}-of-another-host")

    def sweep(self, **arguments: Any) -> Any:
        return fabriclab.sweep(self.lab, progress=self.told.append, **arguments)


def files_of(directory: Path) -> dict[str, dict[str, str]]:
    """Return the hash of each file of each run, by the run's name."""
    runs = sorted((directory / "points").iterdir())
    return {run.name: json.loads((run / "manifest.json").read_text())["files"] for run in runs}


def hosts_of(directory: Path) -> set[str | None]:
    """Return the names of the workers that a sweep's runs were made on."""
    manifests = [json.loads(file.read_text()) for file in directory.glob("points/*/manifest.json")]
    return {manifest["host"].get("worker_name") for manifest in manifests}
