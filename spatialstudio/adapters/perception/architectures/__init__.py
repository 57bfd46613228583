"""One module per model family; each registers itself as ``FAMILY``."""
