"""Relation extractors, which turn a prompt into a scene graph."""
