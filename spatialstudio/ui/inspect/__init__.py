"""Inspecting: maps, layers, steps, numbers."""
