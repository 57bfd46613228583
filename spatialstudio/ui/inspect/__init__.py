"""Inspection of a run: maps, layers, steps, numbers."""
