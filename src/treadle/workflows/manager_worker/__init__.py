"""ManagerWorker: a strong model directs, a cheap one works in the repository (arXiv 2603.26458)."""
