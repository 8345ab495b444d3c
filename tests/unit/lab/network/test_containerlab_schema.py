"""Our labs and our lists of words against Containerlab's own schema."""

from __future__ import annotations

from json_schemas import Draft7Validator
from outside_files import containerlab_schema
from repository import ROOT
from ruamel.yaml import YAML

from fabriclab.lab.network import containerlab

LABS = sorted(path.parent for path in ROOT.glob("labs/*/experiment.yml"))


def test_our_topologies_are_valid_containerlab_files() -> None:
    takes, yaml = Draft7Validator(containerlab_schema()), YAML(typ="safe", pure=True)
    files = {path.name: (path / "topology.clab.yml").read_text(encoding="utf-8") for path in LABS}
    assert len(files) > 20
    assert [(name, str(error)) for name, text in files.items() for error in takes.iter_errors(yaml.load(text))] == []


def test_our_lists_of_containerlabs_words_are_the_schemas() -> None:
    schema = containerlab_schema()
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
