"""What a lab writes of a Hadoop cluster: its keys, its hosts, its jobs, what its disks and processors take."""
