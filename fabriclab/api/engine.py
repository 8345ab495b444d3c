"""What a run is made from, by the name of its engine; it is asked for before anything is started.

Whoever wants it goes through the gate of consent here: nothing is compiled, and no container started, of a lab or a
recorded plan that a person should have been asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fabriclab.api.consent import lab_request, recorded_request
from fabriclab.compile import needed_layers
from fabriclab.consent.gate import require
from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts, locate_artefacts, with_routing
from fabriclab.engine.containers import ContainerLab
from fabriclab.engine.kernel_needs import check_kernel
from fabriclab.engine.layers import ready_layers, with_layers
from fabriclab.errors import ArgumentError
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import Lab
from fabriclab.lab.network.topology import FILE_NAME
from fabriclab.lab.reading.document import read_document
from fabriclab.lab.reading.plain_data import yaml_text
from fabriclab.lab.reading.problems import Problems
from fabriclab.runs.engines import EngineName, MadeFrom, check_engine

_WRITE_IT = "; Containerlab deploys that file: write the lab first, `lab.write(DIR)`, and run DIR"


def fit_engine(name: EngineName, lab: Lab, plans: Sequence[Plan], trust: bool = False) -> MadeFrom:
    """Return what the engine needs that is built beforehand. `trust`: whatever the plans bring may run.

    Raises ConsentError where they bring what a person should know about and nobody said that it may run, EngineError
    when it is not built, or when this host can't run the plans; ArgumentError for a lab without files where the engine
    needs them.
    """
    topology = None if name == "vm" else _deployable(lab)
    require(lab_request(lab, plans, name), trust)
    made_from = fit_machine(plans) if topology is None else _find_containers(lab, topology, plans)
    check_engine(made_from, plans)
    return made_from


def fit_recorded(plans: Mapping[Path, Plan], where: Path, trust: bool, lab: Path | None = None) -> Artefacts:
    """Return what a machine is started from for the plans of run directories, in a bundle or a directory `where`.

    `lab`: where the lab may lie that they were made of. Raises as `fit_engine`.
    """
    require(recorded_request(plans, where, lab), trust)
    return fit_machine(list(plans.values()))


def fit_machine(plans: Sequence[Plan]) -> Artefacts:
    """Return what a machine for these plans is started from, whatever they bring. Layers of programs that
    they name are built where they are missing.

    Raises EngineError when it is not built, or its kernel lacks what they ask for.
    """
    artefacts = find_artefacts()
    check_kernel(artefacts, plans)
    if any(plan.bgp is not None or plan.configured is not None for plan in plans):
        artefacts = with_routing(artefacts)
    return with_layers(artefacts, map(needed_layers, plans))


def _find_containers(lab: Lab, topology: Path, plans: Sequence[Plan]) -> ContainerLab:
    located = locate_artefacts()
    tools = located["tools"]
    if tools is None:
        raise EngineError(
            "the replay and the sampler must be built first; run `images/machine/build tools` (`make machine` builds "
            "them too)"
        )
    found = ContainerLab.find(topology, tools, lab.topology_text)
    wanted = [layers for plan in plans if (layers := needed_layers(plan))]
    if not wanted:
        return found
    if (rootfs := located["rootfs"]) is None:
        # The images have the packages of the machine's nodes, and layers lie over either.
        raise EngineError(
            "the root file system of the virtual machine's nodes, which the packages of programs need, must be built "
            "first; run `images/machine/build rootfs` (`make machine` builds it too)"
        )
    return replace(found, layers=ready_layers(rootfs, wanted))


def _deployable(lab: Lab) -> Path:
    """Return a lab's topology file, which Containerlab deploys as it stands, or what it comes to as a Go template.

    Raises ArgumentError where it is not what the lab has: a Lab made or changed in Python.
    """
    file = lab.directory / lab.topology_file
    if not file.is_file():
        text = "engine='containerlab': the lab was made in Python, and has no {0}{1}"
        raise ArgumentError(text, lab.topology_file, _WRITE_IT)
    if lab.topology_file != FILE_NAME:
        # Somebody's own file: the lab has rates beside it, of which Containerlab takes nothing.
        return file
    there = read_document(file, Problems())
    if there is None or yaml_text(there) != yaml_text(lab.topology_document):
        raise ArgumentError("engine='containerlab': the lab was changed in Python, and is not {0}{1}", file, _WRITE_IT)
    return file
