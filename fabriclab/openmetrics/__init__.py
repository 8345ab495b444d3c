"""Measurements as OpenMetrics text, which Prometheus reads: the families, and how prometheus_client writes them."""

from fabriclab.openmetrics.families import FAMILIES, Family
from fabriclab.openmetrics.histogram import COMPLETION, Completions
from fabriclab.openmetrics.text import Series, accepted, histogram_of, metric_of, openmetrics

__all__ = [
    "COMPLETION",
    "FAMILIES",
    "Completions",
    "Family",
    "Series",
    "accepted",
    "histogram_of",
    "metric_of",
    "openmetrics",
]
