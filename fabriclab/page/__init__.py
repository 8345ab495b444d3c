"""The live page: a web server on loopback, a client of the labs that are up, and what a browser loads from it (`web/`).

It is a process of its own, so that nothing that a browser does touches a lab.
"""
