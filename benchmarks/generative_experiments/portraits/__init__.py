"""Drawn portraits: a stand-in for a model that makes images.

A prompt becomes a PNG file, and a network reads attributes back from it, as with a real model. Here
the shares of each attribute are known, and a picture takes milliseconds.
``python -m benchmarks.generative_experiments.portraits.server`` serves them over HTTP.
"""
