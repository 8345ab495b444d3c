"""What a lab publishes: tables, sentences and pictures of its README, made from data that lie beside it.

`published.yml` of a lab says which matrices are published and what of them stands in the README; `published/` has what
was measured, a CSV file for each matrix, and from what. `labs/README.md`, "What a lab publishes", is the page for
people; `fabriclab figures` and `make figures` are the commands.
"""
