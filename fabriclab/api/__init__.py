"""The public names of `fabriclab`: each lies in a module of this package and is loaded when it is first used."""
