"""Strategies only propose: one small file each."""
