"""Blind votes on pictures, and what they say about the checker."""
