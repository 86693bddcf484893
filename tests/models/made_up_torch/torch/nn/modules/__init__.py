"""Where the made-up PyTorch defines its modules."""
