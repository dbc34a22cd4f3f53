"""Weave language-model calls into structures: measure, search, test and serve them."""
