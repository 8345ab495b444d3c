"""JupyterHub of a workshop. What may be set stands in docker-compose.yml (`workshop`)."""

import os
import sys
from pathlib import Path

from cards import CardAuthenticator, cards, read_secret
from room import TRAINER, RoomError, read_room
from seats import HUB_ALIAS, SeatSpawner, rights

c = get_config()  # noqa: F821 - JupyterHub defines it before it runs this file

KEPT = Path("/srv/workshop")
"""A volume: the secret, the hub's own records, and the certificate where there is one."""
TLS = KEPT / "tls"

try:
    room = read_room(os.environ)
except RoomError as error:
    sys.exit(f"workshop: {error}")

passwords = cards(read_secret(KEPT / "secret"), room.names)

# -- Who comes in -----------------------------------------------------------------------------------------------------
CardAuthenticator.cards = passwords
c.JupyterHub.authenticator_class = CardAuthenticator
c.Authenticator.allowed_users = set(room.names)
c.Authenticator.any_allow_config = True
# The trainer sees all seats, starts and stops them, and looks into them.
c.JupyterHub.load_roles = [
    {
        "name": "trainer",
        "users": [TRAINER],
        "scopes": ["admin-ui", "list:users", "read:users", "admin:servers", "access:servers", "read:hub"],
    }
]

# -- Seats ------------------------------------------------------------------------------------------------------------
SeatSpawner.room = room
c.JupyterHub.spawner_class = SeatSpawner
c.DockerSpawner.image = os.environ["FABRICLAB_SEAT_IMAGE"]
c.DockerSpawner.name_template = "fabriclab-{username}"
c.DockerSpawner.remove = True
c.DockerSpawner.use_internal_ip = True
c.DockerSpawner.extra_create_kwargs = {"user": "1000:1000"}
c.DockerSpawner.extra_host_config = {**rights(), "shm_size": room.memory}
c.DockerSpawner.mem_limit = room.memory
c.DockerSpawner.cpu_limit = room.cpus
c.Spawner.default_url = "/lab/tree/analysis/start.ipynb"
c.Spawner.start_timeout = 180
c.Spawner.http_timeout = 120

# -- The hub ----------------------------------------------------------------------------------------------------------
c.JupyterHub.hub_ip = "0.0.0.0"  # In the seats' networks; only the proxy's port is published.
c.JupyterHub.hub_connect_ip = HUB_ALIAS
c.JupyterHub.bind_url = "http://:8000"
c.JupyterHub.db_url = f"sqlite:///{KEPT}/hub.sqlite"
c.JupyterHub.cookie_secret_file = str(KEPT / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = "/tmp/proxy.pid"
if (TLS / "key.pem").exists():
    c.JupyterHub.bind_url = "https://:8000"
    c.JupyterHub.ssl_key = str(TLS / "key.pem")
    c.JupyterHub.ssl_cert = str(TLS / "cert.pem")
# Seats end with the hub: a room that is closed leaves nothing running.
c.JupyterHub.cleanup_servers = True

print("The cards of this room: a name and a password each.", flush=True)
for name, word in passwords.items():
    print(f"  {name:<10} {word}", flush=True)
