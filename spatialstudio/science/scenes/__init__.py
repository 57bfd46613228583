"""Layouts and consistency of scene graphs."""
