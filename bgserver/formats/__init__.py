"""Text formats of the field: XGID, GNU position and match IDs, play notation."""
