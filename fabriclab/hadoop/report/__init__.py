"""What reports show of Hadoop's jobs."""
