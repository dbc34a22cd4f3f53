"""The store: what was asked, answered, paid and scored, kept for replay and resume."""
