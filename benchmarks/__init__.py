"""Measurements beside peers and stated figures; none of them is a test."""
