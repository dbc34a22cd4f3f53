"""Running code that models write: apart from this machine's files, network, keys and processes."""
