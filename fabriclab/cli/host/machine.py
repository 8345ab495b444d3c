"""Asking where the machine's files are while a command is still loading: commands import it before anything else."""

from __future__ import annotations

from fabriclab.engine.artefacts import asked_ahead

__all__ = ["asked_ahead"]
