"""Scorers: one small file each."""
