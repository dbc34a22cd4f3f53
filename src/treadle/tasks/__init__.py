"""Tasks: samples with targets, and the scorer that grades answers to them."""
