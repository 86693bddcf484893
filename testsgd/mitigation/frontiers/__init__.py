"""The frontier: the worst difference of all groups against accuracy, for several methods."""
