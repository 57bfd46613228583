"""Processes on the machines of a cluster."""
