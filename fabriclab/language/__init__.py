"""The lab's language as data: every key of `experiment.yml` with what it may hold, its default and what it means.

The readers in `fabriclab.lab` decide what a text means and say what is wrong with it. What editors and the reference
tell of the language is made of the records here: the JSON schema (`fabriclab schema`) and the tables of
`docs/language`. Words, bounds, units and defaults are the readers' own constants; tests watch every reader at work and
compare what it asks for with what stands here.
"""
