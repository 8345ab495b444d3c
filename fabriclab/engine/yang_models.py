"""SONiC's YANG models as a checkout has them: some are templates, which its own build renders (sonic-buildimage,
src/sonic-yang-models/setup.py)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jinja2

from fabriclab.engine.artefacts import EngineError

_MODELS, _TEMPLATES, _ENDING = "yang-models", "yang-templates", ".yang.j2"
_KIND = {"yang_model_type": "py"}
"""The models that SONiC's Python reads; `cvl` are its management framework's."""


def has_models(directory: Path) -> bool:
    """Return whether a directory is SONiC's: src/sonic-yang-models, its yang-models, or one with models."""
    return any(path.is_file() for name in ("", _MODELS) for path in (directory / name).glob("*.yang"))


@contextmanager
def models(directory: Path) -> Iterator[Path]:
    """Yield a directory with all models of SONiC's one, templates rendered; that itself where it has none.

    Raises EngineError for a template that cannot be rendered.
    """
    found = directory / _MODELS if (directory / _MODELS).is_dir() else directory
    templates = sorted(path for folder in _template_folders(directory) for path in folder.glob(f"*{_ENDING}"))
    if not templates:
        yield found
        return
    with tempfile.TemporaryDirectory(prefix="fabriclab-yang-") as name:
        whole = Path(name)
        for model in found.glob("*.yang"):
            (whole / model.name).symlink_to(model.resolve())
        for template in templates:
            rendered = whole / template.name.removesuffix(".j2")
            rendered.unlink(missing_ok=True)
            rendered.write_text(_render(template), encoding="utf-8")
        yield whole


def _template_folders(directory: Path) -> tuple[Path, ...]:
    beside = directory.parent / _TEMPLATES if directory.name == _MODELS else directory / _TEMPLATES
    return tuple(dict.fromkeys((directory, beside)))


def _render(template: Path) -> str:
    try:
        environment = jinja2.Environment(trim_blocks=True, autoescape=False)  # YANG is no HTML
        return environment.from_string(template.read_text(encoding="utf-8")).render(_KIND)
    except (jinja2.TemplateError, UnicodeDecodeError) as error:
        raise EngineError(f"{template}: can't be rendered: {error}") from error
