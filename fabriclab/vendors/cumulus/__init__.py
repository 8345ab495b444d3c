"""Cumulus Linux: what of NVUE's or ifupdown2's configuration acts where FRR stands in for the switch."""
