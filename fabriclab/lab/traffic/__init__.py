"""Traffic as written: the section `traffic`, and the keys that several kinds have."""
