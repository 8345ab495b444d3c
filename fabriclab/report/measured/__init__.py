"""What the report shows of a run: numbers with their units, ports with their thresholds,
samples as series; nothing is drawn."""
