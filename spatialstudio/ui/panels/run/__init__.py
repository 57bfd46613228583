"""What a run is asked for, and where it stands."""
