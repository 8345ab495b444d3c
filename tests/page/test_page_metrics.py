"""`/metrics` of the live page: whom it lets in, what others' readers say of it, and that it agrees with `tc -s`."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from fake_lab import FakeLab
from page_entry import entered
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_classic

import fabriclab
from fabriclab.api.lab import Settings
from fabriclab.engine.artefacts import Artefacts
from fabriclab.page.serve import Page as Server

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def scrape(server: Server, headers: Mapping[str, str], method: str = "GET") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.keys.port)
    connection.request(method, "/metrics", headers=dict(headers))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers.get("content-type", ""), text


def bearer(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.keys.token}"}


def parsed(server: Server) -> dict[str, Metric]:
    status, media_type, text = scrape(server, {**bearer(server), "Accept": OPENMETRICS})
    assert status == 200 and media_type.startswith("application/openmetrics-text")
    return {metric.name: metric for metric in parse_openmetrics(text)}  # type: ignore[no-untyped-call]  # the library's


def value(metrics: Mapping[str, Metric], family: str, **labels: str) -> float:
    (found,) = (sample for sample in metrics[family].samples if labels.items() <= sample.labels.items())
    return found.value


def test_the_token_lets_in_and_nothing_else(fake: FakeLab, server: Server) -> None:
    assert scrape(server, bearer(server))[0] == 200
    assert scrape(server, {"Cookie": entered(server)})[0] == 200
    assert scrape(server, {})[0] == 403
    assert scrape(server, {"Authorization": "Bearer wrong"})[0] == 403
    assert scrape(server, {"Authorization": f"Basic {server.keys.token}"})[0] == 403
    assert scrape(server, {**bearer(server), "Host": "evil.example"})[0] == 403
    assert scrape(server, {**bearer(server), "Origin": "http://evil.example"})[0] == 403
    assert scrape(server, bearer(server), "POST")[0] == 403


def test_a_queue_and_a_flow_are_told_in_both_formats(fake: FakeLab, server: Server) -> None:
    fake.paused, fake._stopped_ns = True, 250_000_000
    metrics = parsed(server)
    at = {"lab": "fake", "node": "s1", "port": "eth49", "queue": "0"}
    assert value(metrics, "fabriclab_virtual_time_seconds") == 0.25
    assert value(metrics, "fabriclab_queue_bytes", **at) == 250 * 120
    assert value(metrics, "fabriclab_queue_drops", **at) == 250
    completion = metrics["fabriclab_flow_completion_seconds"].samples
    buckets = {one.labels["le"]: one.value for one in completion if one.name.endswith("_bucket")}
    assert (buckets["0.005"], buckets["0.01"], buckets["+Inf"]) == (0, 1, 1)
    status, media_type, text = scrape(server, bearer(server))
    assert status == 200 and media_type.startswith("text/plain")
    classic = {metric.name: metric for metric in parse_classic(text)}
    assert value(classic, "fabriclab_queue_drops", **at) == 250
    # A second scrape counts no flow twice, and a lab that has gone is not told.
    again = parsed(server)["fabriclab_flow_completion_seconds"].samples
    assert [one.value for one in again] == [one.value for one in completion]
    fake.stop()
    assert parsed(server) == {}


@pytest.mark.vm
@pytest.mark.slow("a live lab carries an in-cast")
def test_counters_agree_with_tc(artefacts: Artefacts, runtime: Path, tmp_path: Path, server: Server) -> None:
    settings: Settings = {"variant": "dctcp", "senders": 8}
    with fabriclab.up("incast", set=settings, idle=True, speed="max", out=tmp_path / "run") as live:
        live.pause()
        live.start("sru")
        live.step("100 ms")
        metrics = parsed(server)
        told = json.loads(live.exec("s1", ["tc", "-s", "-j", "qdisc", "show", "dev", "eth49"]).stdout)
        (link,) = json.loads(live.exec("s1", ["ip", "-s", "-j", "link", "show", "dev", "eth49"]).stdout)
    (red,) = (one for one in told if one["kind"] == "red")
    assert red["drops"] > 0 and red["marked"] > 0 and red["packets"] > 1000
    at = {"lab": "incast", "node": "s1", "port": "eth49"}
    queue = {**at, "queue": "0"}
    assert value(metrics, "fabriclab_queue_drops", **queue) == red["drops"]
    assert value(metrics, "fabriclab_queue_ecn_marks", **queue) == red["marked"]
    assert value(metrics, "fabriclab_queue_sent_bytes", **queue) == red["bytes"]
    assert value(metrics, "fabriclab_queue_sent_packets", **queue) == red["packets"]
    assert value(metrics, "fabriclab_queue_packets", **queue) == red["qlen"]
    assert value(metrics, "fabriclab_queue_bytes", **queue) == red["backlog"]
    assert value(metrics, "fabriclab_port_sent_bytes", **at) == link["stats64"]["tx"]["bytes"]
    assert value(metrics, "fabriclab_port_received_packets", **at) == link["stats64"]["rx"]["packets"]
    # Time may have been stopped before it began.
    assert value(metrics, "fabriclab_virtual_time_seconds", lab="incast") >= 0.1
