"""What a person is asked about before it runs: who asks, what was answered, and what is remembered of it.

All that would run such a thing goes through `gate.require`. What a request is made of is in `api/consent.py`, the
question on a terminal in `cli/host/consent.py`.
"""
