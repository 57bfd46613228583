"""Models on the Hugging Face hub: catalogue, downloads, verification and removal."""
