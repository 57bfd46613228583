"""One module per export kind; each states its registration as ``KIND``."""
