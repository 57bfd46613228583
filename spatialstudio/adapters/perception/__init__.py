"""Third-party perception models: detectors, segmenters and depth estimators."""
