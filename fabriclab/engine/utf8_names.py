"""File names in UTF-8, whatever the locale: a lab's files are, and Polars knows nothing else."""

from __future__ import annotations

import codecs
import os
import sys


def start_again_in_utf8() -> None:
    """Replace this process by itself with Python's UTF-8 mode on, where the locale makes file names something else.

    Python's mode can't be changed once it runs. It is on by itself in the locales C and POSIX, unless PYTHONUTF8=0.
    """
    encoding = codecs.lookup(sys.getfilesystemencoding()).name
    if encoding == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
