"""Available models, devices and cross-attention layers."""
