"""A switch whose interfaces are in VRFs: FRR's configuration as SONiC makes it, and the kernel's devices."""
