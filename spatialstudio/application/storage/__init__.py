"""Storing runs, queue and drafts."""
