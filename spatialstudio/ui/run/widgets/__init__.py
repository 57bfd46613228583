"""Widgets of the run panels."""
