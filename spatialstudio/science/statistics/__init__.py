"""Rates over many verdicts."""
