"""The library: listing, filters, exports."""
