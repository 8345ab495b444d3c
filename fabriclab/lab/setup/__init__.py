"""What Containerlab does in a node: its files, commands, environment, sysctls, and what starts there."""
