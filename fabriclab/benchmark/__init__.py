"""`fabriclab bench ai`: the benchmark of AI training fabrics that the IETF's BMWG discusses, on a lab.

Source: F. Calabria et al., "Benchmarking Methodology for AI Training Network Fabrics",
draft-calabria-bmwg-ai-fabric-training-bench (June 2026). Categories of tests, names of numbers and the sections of the
report are the draft's. Its reference targets are no pass marks there; `--strict` makes them such.
"""

from fabriclab.benchmark.kpis import Kpi, Reference
from fabriclab.benchmark.scale import Scale
from fabriclab.benchmark.tests import BenchmarkTest, tests_of

__all__ = ["BenchmarkTest", "Kpi", "Reference", "Scale", "tests_of"]
