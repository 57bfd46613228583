"""File formats of published benchmarks."""
