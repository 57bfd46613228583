"""Parts of the grid of kept runs."""
