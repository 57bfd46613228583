"""Guidance: losses, methods, schedules and noise search."""
