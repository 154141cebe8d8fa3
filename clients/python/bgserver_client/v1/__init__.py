"""Generated from proto/bgserver/v1; do not edit."""
