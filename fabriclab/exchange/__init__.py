"""Results for other programs and for other people: tables in common formats, runs as one archive."""
