"""Test doubles and contract suites, for Treadle's own tests and for yours."""
