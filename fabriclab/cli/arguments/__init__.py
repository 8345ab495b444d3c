"""What is written on the command line: labs, settings, options, and what was meant by a mistake."""
