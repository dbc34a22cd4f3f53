"""Agents: loops of a model that acts on something and looks at what came of it."""
