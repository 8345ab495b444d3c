"""Vendors of switches, a folder each; `fabriclab.registry.vendors` lists them and loads what is asked for."""
