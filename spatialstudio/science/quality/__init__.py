"""Quality of the objects in a picture."""
