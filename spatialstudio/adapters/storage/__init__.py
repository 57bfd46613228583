"""Storage of runs, libraries, metadata and benchmark records."""
