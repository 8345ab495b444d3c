"""Arista: the QoS part of an EOS configuration, made a switch profile."""
