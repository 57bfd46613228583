"""Widgets of the benchmark workspace."""
