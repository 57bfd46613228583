"""Stores: where finished runs are kept."""
