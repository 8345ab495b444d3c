"""The command line: `fabriclab run|sweep|plan|check|report|doctor`."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of `fabriclab`."""
    from fabriclab.cli.app import app

    app()
