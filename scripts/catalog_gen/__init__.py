"""The parts of scripts/catalog-gen that deal with PMUs: read, check, equation, tables."""
