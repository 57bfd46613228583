"""Audits: samples for people, their labels, and what follows for the checker."""
