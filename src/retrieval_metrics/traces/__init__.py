"""What agents retrieve: several searches of one question, the views that make runs of them, and traces."""
