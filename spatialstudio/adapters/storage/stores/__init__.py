"""Run files and their formats."""
