"""Runs, libraries, metadata and records on disk."""
