"""The parts of fuzz/catalog: patches, mutations, scratch folder, judge of what is accepted."""
