"""Statistics over many runs and verdicts."""
