"""Attention maps and numbers of a run."""
