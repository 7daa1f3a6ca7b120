"""The mean of a metric over the orders of tied scores."""
