"""The kinds of component, one file each."""
