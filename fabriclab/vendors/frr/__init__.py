"""FRR: a network's routers, each with its frr.conf, into a lab."""
