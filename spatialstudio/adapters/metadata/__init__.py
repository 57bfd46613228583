"""Metadata: what is written into picture files about their making, and what others wrote there."""
