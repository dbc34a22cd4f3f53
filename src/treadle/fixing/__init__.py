"""Fixing an issue of a repository: the run behind ``treadle fix``, its report, and what becomes of the patch."""
