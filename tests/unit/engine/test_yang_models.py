"""SONiC's directory of YANG models, templates and all."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.yang_models import has_models, models

TEMPLATE = """module sonic-types {
{% if yang_model_type == "cvl" %}
  leaf a;
{% else %}
  leaf b;
{% endif %}
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in (
        ("yang-models/sonic-port.yang", "module sonic-port {}"),
        ("yang-templates/sonic-types.yang.j2", TEMPLATE),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("given", ["", "yang-models"])
def test_templates_are_rendered_beside_the_models(source: Path, given: str) -> None:
    assert has_models(source / given)
    with models(source / given) as whole:
        assert (whole / "sonic-port.yang").read_text() == "module sonic-port {}"
        assert (whole / "sonic-types.yang").read_text() == "module sonic-types {\n  leaf b;\n}"
    assert not whole.exists()
    assert not (source / "yang-models" / "sonic-types.yang").exists()


def test_a_directory_without_templates_is_taken_as_it_is(source: Path) -> None:
    (source / "yang-templates" / "sonic-types.yang.j2").unlink()
    with models(source) as whole:
        assert whole == source / "yang-models"


def test_a_template_that_is_broken_is_named(source: Path) -> None:
    (source / "yang-templates" / "sonic-types.yang.j2").write_text("{% if %}")
    with pytest.raises(EngineError, match="can't be rendered"), models(source):
        pass


def test_a_directory_of_something_else_has_no_models(tmp_path: Path) -> None:
    assert not has_models(tmp_path)
