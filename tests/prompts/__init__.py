"""Tests of prompts as versions."""
