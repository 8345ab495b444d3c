"""`python -m fabriclab`."""

from fabriclab.cli import main

main()
