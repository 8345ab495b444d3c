"""What each command does; its options stand in `cli/app.py`."""
