"""Attention and PoS, step by step."""
