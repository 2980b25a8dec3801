"""The vocabulary: actions go in, events come out, errors have a code and a sentence."""
