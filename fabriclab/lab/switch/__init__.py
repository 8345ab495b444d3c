"""A switch's section of an experiment, and switch profiles: shared buffer, queues, priority groups, maps, PFC."""
