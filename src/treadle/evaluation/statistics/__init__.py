"""Statistics: intervals, paired tests, power and noise; pure numpy and scipy, no files and no models."""
