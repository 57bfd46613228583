"""Widgets of evaluating."""
