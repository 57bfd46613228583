"""The five stages: read prompt, generate image, evaluate image, store run, export run."""
