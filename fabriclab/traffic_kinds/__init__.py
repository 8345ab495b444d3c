"""What each kind of traffic can do, a file each, named as the kind is."""
