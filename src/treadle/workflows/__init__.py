"""Workflows: async functions of a problem and a run, one file per name."""
