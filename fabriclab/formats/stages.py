"""The stages of `fabriclab validate`, in their order."""

STAGES = ("reach", "classes", "marks", "lossless", "failures")
