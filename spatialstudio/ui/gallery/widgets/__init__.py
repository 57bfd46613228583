"""Widgets of the gallery."""
