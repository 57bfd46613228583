"""Benchmarks: plans, runs, results, comparisons and exports."""
