"""Metrics, losses and rules as pure functions that cite their papers.

Uses numpy, and torch only where gradients are needed.
"""
