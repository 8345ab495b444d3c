"""The keys of labs and switch profiles: what may stand at each, its bounds, its default, what it means.

A key is one record (`mappings.Key`), which lies beside its reader. Readers, editors' schemas, the tables of
docs/language, settings by dotted key and the values of parameters all ask the record.
"""
