"""Nokia SR Linux: what of a startup-config acts where FRR stands in for the switch."""
