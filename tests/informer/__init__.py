"""Tests of the client half: units with a clock turned by hand, a model, and real servers."""
