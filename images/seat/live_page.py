"""The live page of a seat's labs, behind the seat's own address: .../proxy/... of jupyter-server-proxy."""

c = get_config()  # noqa: F821 - Jupyter defines it before it runs this file
