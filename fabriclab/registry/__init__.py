"""What can be plugged in: plain records that low layers read, and modules that are loaded by name when asked for.

A registry imports nothing of what it lists, so a layer may know that a vendor exists without standing above it.
"""
