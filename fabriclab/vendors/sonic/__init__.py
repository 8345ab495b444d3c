"""SONiC: its `config_db.json` read, judged, turned into a lab, written; and switches that run it (kind sonic-vs)."""
