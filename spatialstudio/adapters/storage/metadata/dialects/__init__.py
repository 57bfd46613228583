"""One module per metadata dialect; each lists its readers as ``DIALECTS``."""
