"""Metrics over relations and pictures; every module registers one as its constant ``METRIC``."""
