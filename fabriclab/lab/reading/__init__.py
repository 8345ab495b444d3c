"""Reading what a lab's files say: YAML with the place of every value, its keys by their meaning,
mistakes collected, and the defaults."""
