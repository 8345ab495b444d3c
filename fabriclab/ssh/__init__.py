"""SSH to the nodes of a lab that is up, for programs that reach devices so, such as Ansible (docs/live.md)."""
