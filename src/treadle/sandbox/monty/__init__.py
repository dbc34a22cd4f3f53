"""Programs and workflow code in Monty, a Python interpreter of its own without files, network and processes."""
