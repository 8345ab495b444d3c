"""A lab as written: `topology.clab.yml` and `experiment.yml`, read with every problem collected and shown together."""

from fabriclab.lab.experiment import Experiment
from fabriclab.lab.lab import AppliedSettings, Lab, parse_documents, parse_lab
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.problems import LabError, Mistake, Place, Problems
from fabriclab.lab.study import Study

__all__ = [
    "AppliedSettings",
    "Experiment",
    "Lab",
    "LabError",
    "Mistake",
    "Place",
    "Problems",
    "Study",
    "Topology",
    "parse_documents",
    "parse_lab",
]
