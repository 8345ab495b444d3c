"""What people look at: one self-contained HTML page for runs and sweeps, and a table in the terminal."""

from __future__ import annotations

from fabriclab.formats.figures import FIGURE_KINDS
from fabriclab.report.page import write_report
from fabriclab.report.pictures import standalone, write_pictures
from fabriclab.report.terminal import class_table, summary_table

__all__ = ["FIGURE_KINDS", "class_table", "standalone", "summary_table", "write_pictures", "write_report"]
