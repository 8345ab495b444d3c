"""What a run is made from, by the name of its engine; it is asked for before anything is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts, locate_artefacts, with_routing
from fabriclab.engine.containers import ContainerLab
from fabriclab.formats.plan.model import Plan
from fabriclab.lab.network.topology import FILE_NAME
from fabriclab.runs.engines import EngineName, MadeFrom, check_engine


def fit_engine(name: EngineName, lab_directory: Path, plans: Sequence[Plan]) -> MadeFrom:
    """Return what the engine needs that is built beforehand.

    Raises EngineError when it is not, or when this host can't run the plans.
    """
    made_from = find_engine(name, lab_directory)
    if isinstance(made_from, Artefacts) and any(plan.bgp is not None for plan in plans):
        made_from = with_routing(made_from)
    check_engine(made_from, plans)
    return made_from


def find_engine(name: EngineName, lab_directory: Path) -> MadeFrom:
    """Return what the engine needs that is built beforehand. Raises EngineError when it is not."""
    if name == "vm":
        return find_artefacts()
    tools = locate_artefacts()["tools"]
    if tools is None:
        raise EngineError(
            "not built yet: the replay and the sampler; run `images/machine/build tools` (`make machine` builds them "
            "too)"
        )
    return ContainerLab.find(lab_directory / FILE_NAME, tools)
