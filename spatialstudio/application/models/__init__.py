"""Models, devices and layers on offer."""
