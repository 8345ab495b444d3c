"""The image docker-sonic-vs: what each release of it does when it starts, what it is given for that, and how it is
seen to start."""
