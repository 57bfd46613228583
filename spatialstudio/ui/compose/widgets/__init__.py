"""Widgets of composing."""
