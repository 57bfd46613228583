"""Attention maps and measurements of a run."""
