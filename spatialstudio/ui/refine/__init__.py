"""Fix it: remedies for failed pictures, and their attempts."""
