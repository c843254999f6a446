"""Inputs that are accepted and cost as much as they can, and what they cost in every command."""
