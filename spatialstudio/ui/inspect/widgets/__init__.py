"""Widgets of inspecting."""
