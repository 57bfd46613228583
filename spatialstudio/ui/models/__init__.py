"""The models on the hub and on this machine."""
