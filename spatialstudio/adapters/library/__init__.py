"""The library: an index over run files that can be deleted, a trash, thumbnails."""
