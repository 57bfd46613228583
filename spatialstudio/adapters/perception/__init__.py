"""Models of others that look at pictures: detectors, segmenters and depth estimators."""
