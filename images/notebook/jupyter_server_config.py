"""JupyterLab in the container.

The token is JUPYTER_TOKEN, or a new one at each start, which the log shows; there is always one.
"""

c = get_config()  # noqa: F821 - Jupyter defines it before it runs this file

# Of the container: docker-compose.yml publishes it on the host's loopback only.
c.ServerApp.ip = "0.0.0.0"
c.ServerApp.port = 8888
c.ServerApp.open_browser = False
c.ServerApp.root_dir = "/home/fabriclab"
c.LabApp.default_url = "/lab/tree/analysis/start.ipynb"
# No notices from outside, no telemetry: a laboratory needs no network.
c.LabApp.news_url = ""
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
