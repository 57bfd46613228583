"""Widgets of the evaluation panels."""
