"""Our labs and our lists of words against Containerlab's own schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from fabriclab.lab.network import containerlab

ROOT = Path(__file__).parents[2]


LABS = sorted(path.parent for path in ROOT.glob("labs/*/experiment.yml"))


SCHEMA = ROOT.parent / "shared" / "data" / "clab.schema.json"


def _schema() -> dict[str, object]:
    if not SCHEMA.is_file():
        pytest.skip(f"Containerlab's schema is not beside the repository: {SCHEMA.relative_to(ROOT.parent)}")
    # Its patterns name Unicode classes that Python's regular expressions do not have.
    loaded = json.loads(SCHEMA.read_text(encoding="utf-8").replace(r"\\p{N}\\p{L}", r"\\w"))
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("directory", LABS, ids=lambda path: path.name)
def test_our_topologies_are_valid_containerlab_files(directory: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = YAML(typ="safe", pure=True).load((directory / "topology.clab.yml").read_text(encoding="utf-8"))
    jsonschema.validate(document, _schema())


def test_our_lists_of_containerlabs_words_are_the_schemas() -> None:
    schema = json.loads(json.dumps(_schema()))
    definitions = schema["definitions"]
    node = definitions["node-config"]["properties"]
    assert set(containerlab.FILE_KEYS) == set(schema["properties"])
    assert set(containerlab.TOPOLOGY_KEYS) == set(schema["properties"]["topology"]["properties"])
    assert set(containerlab.NODE_KEYS) == set(node)
    assert set(containerlab.NODE_KINDS) == set(node["kind"]["enum"])
    assert set(containerlab.SHORT_LINK_KEYS) == set(definitions["link-config-short"]["properties"])
    assert set(containerlab.VETH_LINK_KEYS) == set(definitions["link-type-veth"]["properties"])
    assert set(containerlab.ENDPOINT_KEYS) == set(definitions["link-endpoint"]["properties"])
    types = {
        value["properties"]["type"]["const"] for name, value in definitions.items() if name.startswith("link-type")
    }
    assert set(containerlab.LINK_TYPES) == types
