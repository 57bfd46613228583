"""Files of published benchmarks: run folders, settings and prompts in their own schemas."""
