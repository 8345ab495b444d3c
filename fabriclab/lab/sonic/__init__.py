"""SONiC's `config_db.json`: read strictly, typed, and turned into a lab."""
