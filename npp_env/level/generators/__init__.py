"""Families of generated levels, one file each."""

from __future__ import annotations
