"""The gallery: stored runs, comparison, export."""
