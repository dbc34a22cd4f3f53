"""Working copies of a repository: made from it, changed by agents, and read back as a patch."""
