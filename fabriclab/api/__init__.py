"""What `import fabriclab` offers: each name of it lies in a module here, and is loaded when it is first asked for."""
