"""The commands of live labs: `up`, what looks and reaches into a lab that is up, `down`, `replay`."""
