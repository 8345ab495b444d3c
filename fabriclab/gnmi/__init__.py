"""gNMI of labs that are up: OpenConfig's interfaces and queues, for other programs. It looks and changes nothing."""
