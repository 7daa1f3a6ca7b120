"""Read trajectories from traces: every form into spans, spans into searches, by one set of rules."""
