"""Widgets of the stage."""
