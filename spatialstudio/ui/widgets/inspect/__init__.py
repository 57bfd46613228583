"""Parts of attention and PoS, step by step."""
