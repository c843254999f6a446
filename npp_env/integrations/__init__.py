"""Adapters to training libraries; each is imported only by those who have the library."""
