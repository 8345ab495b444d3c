"""Labs that stay up: a server that paces the machine and records its inputs, and clients that look inside.

`client`, `wire` and `registry` import little: they are all that `fabriclab exec` waits for.
"""
