"""Timeouts of waits for expected events: longer than a busy machine takes."""

PATIENCE_S = 120.0
