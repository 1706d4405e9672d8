"""Tests of what every call goes through."""
