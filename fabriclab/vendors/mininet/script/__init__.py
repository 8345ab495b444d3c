"""What a script of Mininet's imports here in Mininet's place (`stand_in.py`); it runs in a process of its own."""
