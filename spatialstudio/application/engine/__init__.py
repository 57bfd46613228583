"""Engine that runs the models, in this process or in a child process."""
