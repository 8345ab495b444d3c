"""What Hadoop says of its jobs, as tables of a run and metrics."""
