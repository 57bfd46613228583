"""Relation extractors: prompt to scene graph."""
