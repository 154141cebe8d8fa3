"""The gRPC server: servicers, conversion, errors, limits, metrics, configuration."""
