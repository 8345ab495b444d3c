"""The command line: `fabriclab run|sweep|plan|check|report|doctor`."""

from __future__ import annotations

_OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Python's own 700 make it look for garbage hundreds of times while a command begins, among objects that all stay."""


def main() -> None:
    """Run the command line; the entry point of `fabriclab`."""
    import gc
    import os
    import sys

    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 10, 10)
    # Plans are what their records say; to look for plugins is to read what every installed package offers.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

    from fabriclab.cli import fast

    status = fast.run(sys.argv[1:])
    if status is not None:
        fast.leave(status)

    from fabriclab.cli.host import limits, streams
    from fabriclab.cli.host.undecodable_names import refuse_other_bytes
    from fabriclab.engine.utf8_names import start_again_in_utf8

    streams.prepare()
    start_again_in_utf8()
    refuse_other_bytes(sys.argv[1:])
    if not {"--help", "-h", "--version"} & set(sys.argv[1:]):
        limits.refuse_too_few()
    from fabriclab.cli.app import part

    try:
        part(sys.argv[1:])()
    except SystemExit as ended:
        failed = streams.end_of_output(ended.code)
        if failed is not None and ended.code in (0, None):
            sys.exit(failed)
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        sys.exit(streams.output_failed(error))
    finally:
        # The process ends: to look for garbage among all that is left takes a tenth of a second.
        gc.freeze()
