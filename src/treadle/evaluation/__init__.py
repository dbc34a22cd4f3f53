"""Evaluation: measured tables, baselines, and the statistics that make a difference a claim."""
