"""Results as files of other programs: tables in common formats, and flent's."""
