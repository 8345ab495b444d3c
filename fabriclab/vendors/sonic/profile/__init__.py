"""From a `config_db.json` to a switch profile: what its ports, buffers and queues are in the words of a lab."""
