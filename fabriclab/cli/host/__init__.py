"""The host around a command: terminal, streams, signals, limits."""
