"""Where the models run: one protocol, in this process or in a child."""
