"""The run library: an index over run files, with trash and thumbnails."""
