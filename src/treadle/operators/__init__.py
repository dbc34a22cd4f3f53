"""Operators: proven combinations of model calls, one small file each."""
