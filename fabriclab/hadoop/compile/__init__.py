"""Clusters of Hadoop: their nodes' files, and the steps that start them."""
