"""Frozen types shared by all layers; depends only on the standard library and numpy."""
