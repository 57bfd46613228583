"""Kept runs: found, marked, compared, taken along."""
