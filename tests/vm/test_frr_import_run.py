"""Labs that `fabriclab import frr` makes, in the machine: their routers' own FRR brings every host to every other."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from vm import Vm, called

pytestmark = pytest.mark.vm

GOLDEN = Path(__file__).parents[1] / "golden" / "frr"


@pytest.mark.parametrize("case", ["unnumbered", "segment", "vrfs"])
@pytest.mark.slow("imports a network, which converges and carries a permutation")
def test_every_flow_arrives(case: str, vm: Vm, tmp_path: Path) -> None:
    """BGP unnumbered with BFD over a leaf-spine; IS-IS over a network of three routers, which is a bridge."""
    done = called(tmp_path, "import", "frr", str(GOLDEN / case / "given"), "-o", "lab")
    assert done.returncode == 0, done.stderr
    done = called(tmp_path, "run", "lab", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    flows = pl.read_parquet(tmp_path / "run/flows.parquet")
    assert flows["status"].unique().to_list() == ["complete"] and len(flows) > 20
