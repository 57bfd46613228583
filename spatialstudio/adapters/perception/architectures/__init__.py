"""One module per model family; each states what it runs as ``FAMILY``."""
