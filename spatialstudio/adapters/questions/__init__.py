"""Who answers yes or no to a question about a picture: BLIP, or a server's vision model."""
