"""Widgets of drawing."""
