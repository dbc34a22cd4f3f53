"""The tools of a worker, one file each."""
