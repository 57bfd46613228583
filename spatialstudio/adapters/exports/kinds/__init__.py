"""One module per export kind; each registers itself as ``KIND``."""
