"""The dashboard and the configuration of `docker compose up telemetry`: they name what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fabriclab.openmetrics import COMPLETION, FAMILIES

ROOT = Path(__file__).parents[3]
TELEMETRY = ROOT / "analysis" / "telemetry"


def yaml(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text())


def names() -> set[str]:
    counted = {f"{one.name}_total" if one.kind == "counter" else one.name for one in FAMILIES.values()}
    return counted | {f"{COMPLETION}_{part}" for part in ("bucket", "count", "sum")}


def test_the_dashboard_asks_for_metrics_and_labels_that_there_are() -> None:
    dashboard = json.loads((TELEMETRY / "dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked = {name for expression in expressions for name in re.findall(r"fabriclab_\w+", expression)}
    assert len(asked) > 8 and asked <= names()
    labels = {word for expression in expressions for word in re.findall(r"(\w+)=~", expression)}
    assert labels == {"lab", "node"}
    shown = {
        word
        for panel in dashboard["panels"]
        for one in panel["targets"]
        for word in re.findall(r"\{\{(\w+)\}\}", one["legendFormat"])
    }
    assert shown <= {"lab", "class", *(label for family in FAMILIES.values() for label in family.labels)}


def test_the_page_about_telemetry_has_every_metric() -> None:
    page = (ROOT / "docs" / "telemetry.md").read_text()
    written = re.findall(r"`(\w+?)(?:_total)?`", page)
    for name in (*(family.name for family in FAMILIES.values()), COMPLETION):
        assert any(name.endswith(word) for word in written if "_" in word), name


@pytest.mark.parametrize("service", ["telemetry", "prometheus"])
def test_what_compose_mounts_is_there(service: str) -> None:
    mounted = yaml(ROOT / "docker-compose.yml")["services"][service]["volumes"]
    own = [one.split(":")[0] for one in mounted if isinstance(one, str) and one.startswith("./")]
    assert own and all((ROOT / path).exists() for path in own)


def test_the_parts_name_one_another() -> None:
    services = yaml(ROOT / "docker-compose.yml")["services"]
    command = services["prometheus"]["command"]
    (source,) = yaml(TELEMETRY / "provisioning" / "datasources" / "prometheus.yml")["datasources"]
    assert f"--web.listen-address={source['url'].removeprefix('http://')}" in command
    (scrape,) = yaml(TELEMETRY / "prometheus.yml")["scrape_configs"]
    token = scrape["authorization"]["credentials_file"]
    assert any(isinstance(one, str) and one.endswith(f":{token}:ro") for one in services["prometheus"]["volumes"])
    (provider,) = yaml(TELEMETRY / "provisioning" / "dashboards" / "fabriclab.yml")["providers"]
    home = services["telemetry"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home.startswith(provider["options"]["path"])
    dashboard = json.loads((TELEMETRY / "dashboard.json").read_text())
    assert {panel["datasource"]["uid"] for panel in dashboard["panels"]} == {source["uid"]}
    (target,) = scrape["static_configs"][0]["targets"]
    assert f"--port {target.rpartition(':')[2]} " in (ROOT / "docs" / "telemetry.md").read_text()
