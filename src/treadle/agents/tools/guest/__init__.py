"""Programs that run inside the sandbox; they import nothing but the standard library."""
