"""The stages of `fabriclab validate`, in their order."""

STAGES = ("reach", "classes", "marks", "lossless", "failures")
PARTS = ("lossless-in-cast",)
"""Further runs of these stages: the directories that they have."""
