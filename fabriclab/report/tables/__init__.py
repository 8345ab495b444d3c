"""The tables of the report and of the terminal."""
