"""Run files, application state and their formats."""
