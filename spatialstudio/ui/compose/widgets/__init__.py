"""Widgets of the composition panels."""
