"""Generated prompt sets of published benchmarks."""
