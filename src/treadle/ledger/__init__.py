"""The ledger: the only door to models, tools and time."""
