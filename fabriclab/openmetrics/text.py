"""Metrics as text, as prometheus_client writes it: OpenMetrics with times, or what a scraper accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from fabriclab.openmetrics.families import COUNTER, Family
from fabriclab.openmetrics.histogram import COMPLETION, Completions

_END = b"# EOF\n"
Labels = Mapping[str, str]
Series = tuple[tuple[str, ...], float, float | None]
"""The values of a family's labels, a value, and its time in seconds; None: now."""


def metric_of(family: Family, series: Iterable[Series], common: Labels) -> Metric | None:
    """Return a family with its samples, made as they are written; None where there is none.

    Samples of one series follow one another, in the order of time. `common`: labels of all samples.
    """
    name = f"{family.name}_total" if family.kind == COUNTER else family.name
    samples = (
        Sample(name, {**common, **dict(zip(family.labels, labels, strict=True))}, value, time_s)
        for labels, value, time_s in series
    )
    return _metric(Metric(family.name, family.about, family.kind, family.unit), samples)


def histogram_of(at: Iterable[tuple[Completions, float | None]], common: Labels) -> Metric | None:
    """Return flow completion times at some instants; None where no flow was complete."""
    by_class: dict[str, list[Sample]] = {}
    for completions, time_s in at:
        for class_, buckets, sum_s in completions.now():
            labels = {**common, "class": class_}
            by_class.setdefault(class_, []).extend(_of_instant(labels, buckets, sum_s, time_s))
    metric = Metric(COMPLETION, "Flow completion times of complete flows.", "histogram", "seconds")
    return _metric(metric, (sample for samples in by_class.values() for sample in _by_series(samples)))


def openmetrics(metrics: Iterable[Metric | None]) -> Iterator[bytes]:
    """Yield OpenMetrics text, a piece a metric."""
    for metric in metrics:
        if metric is not None:
            text: bytes = generate_latest(_registry([metric]))  # type: ignore[no-untyped-call]  # the library has no type
            yield text.removesuffix(_END)
    yield _END


def accepted(metrics: Iterable[Metric | None], accept: str) -> tuple[bytes, str]:
    """Return metrics as a scraper accepts them by its header `Accept`: OpenMetrics or Prometheus's own text; and the
    type of the content."""
    encode, content_type = choose_encoder(accept)
    return encode(_registry([metric for metric in metrics if metric is not None])), content_type


def _of_instant(labels: Labels, buckets: list[tuple[str, int]], sum_s: float, time_s: float | None) -> Iterator[Sample]:
    for bound, count in buckets:
        yield Sample(f"{COMPLETION}_bucket", {**labels, "le": bound}, count, time_s)
    yield Sample(f"{COMPLETION}_count", dict(labels), buckets[-1][1], time_s)
    yield Sample(f"{COMPLETION}_sum", dict(labels), sum_s, time_s)


def _by_series(samples: list[Sample]) -> list[Sample]:
    """Return samples with those of one time after those of the time before, as a histogram's are grouped."""
    return sorted(samples, key=lambda sample: sample.timestamp or 0.0)


def _metric(metric: Metric, samples: Iterator[Sample]) -> Metric | None:
    first = next(samples, None)
    if first is None:
        return None
    metric.samples = _Chain(first, samples)  # type: ignore[assignment]  # it is only gone through, once
    return metric


class _Chain:
    """Samples that are made as they are written."""

    def __init__(self, first: Sample, rest: Iterator[Sample]) -> None:
        self._first = first
        self._rest = rest

    def __iter__(self) -> Iterator[Sample]:
        yield self._first
        yield from self._rest


def _registry(metrics: list[Metric]) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_These(metrics))
    return registry


class _These(Collector):
    """Some metrics."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Yield them."""
        yield from self._metrics

    def describe(self) -> list[Metric]:
        """Return nothing: the registry would otherwise collect them to learn their names."""
        return []
