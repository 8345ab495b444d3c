"""The report's pictures: each function draws one kind from results and returns it as SVG with a
caption taken from the data."""
