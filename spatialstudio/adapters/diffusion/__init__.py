"""The diffusers backend: guidance, capture, loading."""
