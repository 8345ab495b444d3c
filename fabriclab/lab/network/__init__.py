"""The network of a lab as `topology.clab.yml` and the switches' VLANs and port channels say it:
nodes, links, addresses."""
