"""Metadata of picture files in the dialects of several programs."""
