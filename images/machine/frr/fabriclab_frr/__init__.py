"""The virtual machine's root file system with FRR, for labs whose switches run routing daemons:
fabriclab finds it below `machine`."""
