"""Models: one protocol with one method, and one file per kind of model behind it."""
