"""Scene graphs as layouts, and their consistency."""
