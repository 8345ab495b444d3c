"""The claims of published studies (`studies/*.yml`), and what measurements say to them."""
