"""Library of runs: listing, filters and exports."""
