"""The mean of a metric over the orders of tied scores, for `ties="expected"`.

The default order of tied scores, by descending id, is in `matching/ranking_order.py` and `matching/exact_ids.py`.
"""
