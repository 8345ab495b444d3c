"""Runs the steps of an action or workflow of GitHub's as its runner does: inputs by expressions, files that steps write
what follows into. Of the expressions only what our files use."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_WORD = re.compile(r"'([^']*)'|([a-z][\w.-]*)(\(\))?|(==|!=|&&|\|\|)|(\d+)")


@dataclass
class Steps:
    """The steps of a composite action, in a checkout; `context` has what expressions name, such as `inputs.path`."""

    checkout: Path
    work: Path
    environment: dict[str, str]
    context: dict[str, str] = field(default_factory=dict)
    failed: bool = False
    printed: dict[str, str] = field(default_factory=dict)

    def run(self, step: Mapping[str, Any], *, limit: float) -> int | None:
        """Run a step, unless its condition does not hold or an earlier one failed; return its exit status."""
        condition = str(step.get("if", "true"))
        if not self.holds(condition) or (self.failed and "always()" not in condition):
            return None
        files = {name: self.work / name.lower() for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        own = {name: self.filled(str(value)) for name, value in step.get("env", {}).items()}
        assert "${{" not in step["run"], "an expression in a step's program lets who wrote the value run programs"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.checkout,
            env={**self.environment, **{name: str(file) for name, file in files.items()}, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
            check=False,
        )
        self.environment |= _assignments(files["GITHUB_ENV"])
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.environment["PATH"] = f"{line}{os.pathsep}{self.environment['PATH']}"
        if "id" in step:
            outputs = _assignments(files["GITHUB_OUTPUT"])
            self.context |= {f"steps.{step['id']}.outputs.{name}": value for name, value in outputs.items()}
            self.context[f"steps.{step['id']}.outcome"] = "failure" if done.returncode else "success"
        self.failed = self.failed or done.returncode != 0
        self.printed[step["name"]] = done.stdout
        return done.returncode

    def filled(self, text: str) -> str:
        """Return a value with its expressions replaced; what nobody set is empty, as on the runner."""
        return _EXPRESSION.sub(lambda one: self.context.get(one[1], ""), text)

    def holds(self, condition: str) -> bool:
        """Whether the condition of a step holds."""

        def word(found: re.Match[str]) -> str:
            quoted, name, call, operator, number = found.groups()
            if operator:
                return {"&&": " and ", "||": " or "}.get(operator, operator)
            if number:
                return number
            if quoted is not None:
                return repr(quoted)
            return "True" if call or name == "true" else repr(self.context.get(name, ""))

        # Of our own file, and of nothing but constants after the replacement.
        return bool(eval(_WORD.sub(word, condition), {"__builtins__": {}}))


def _assignments(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines())
