"""The library: an index over run files."""
