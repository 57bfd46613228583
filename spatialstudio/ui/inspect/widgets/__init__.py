"""Widgets of the inspection panels."""
