"""Search: spaces, strategies, and the protocol that ends every search honestly."""
