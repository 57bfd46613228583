"""Statistics over many verdicts."""
