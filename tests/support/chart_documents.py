"""The document that a report's page draws, unpacked."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np


def unpacked(values: Any) -> list[float | None]:
    if isinstance(values, list):
        return values
    return [float(value) for value in np.frombuffer(base64.b64decode(values["f32"]), dtype="<f4")]


def document(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))
