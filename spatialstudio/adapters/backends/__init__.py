"""Backends that draw pictures."""
