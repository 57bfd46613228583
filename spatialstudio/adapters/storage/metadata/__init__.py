"""Metadata dialects of picture files."""
