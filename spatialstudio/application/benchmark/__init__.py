"""Benchmarks: plans, runs that continue, reports, comparisons and the online choice."""
