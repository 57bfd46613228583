"""Metrics of relations and images; each module registers one as its constant ``METRIC``."""
