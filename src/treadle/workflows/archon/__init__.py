"""Archon: layers of components (arXiv 2409.15254), written down, checked, counted and run."""
