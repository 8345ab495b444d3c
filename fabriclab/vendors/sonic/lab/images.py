"""The container images that imported labs name, so that they run with `--engine containerlab` as they are."""

from __future__ import annotations

SONIC_IMAGE = "docker-sonic-vs:202511"
SWITCH_IMAGE = "fabriclab/switch:latest"
_HOST_IMAGE = "fabriclab/host:latest"
_CAPABILITIES = "privileged: false, cap-add: [NET_ADMIN, NET_RAW, SYS_ADMIN, SYS_NICE]"
LINUX_KIND = f"    linux: {{image: '{_HOST_IMAGE}', {_CAPABILITIES}}}"
"""The line below `kinds` of what is no SONiC: a host, where its node names no other image."""
