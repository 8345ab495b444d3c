"""Runs and sweeps side by side: what was changed, what became better or worse for it, and how sure that is."""
