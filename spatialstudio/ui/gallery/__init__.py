"""The gallery: stored runs, comparing, exporting."""
