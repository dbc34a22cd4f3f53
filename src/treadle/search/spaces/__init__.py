"""Spaces: what a search may choose from, one file each."""
