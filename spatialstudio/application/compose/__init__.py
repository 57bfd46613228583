"""Prompt to scene graph, edits, layouts."""
