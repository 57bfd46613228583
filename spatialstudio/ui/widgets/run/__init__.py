"""Parts of the settings of a run, and of where it stands."""
