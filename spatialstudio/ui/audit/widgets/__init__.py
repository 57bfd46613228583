"""Widgets of the audit."""
