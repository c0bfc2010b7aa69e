"""Assets: files that Newton's importers turn into bodies, joints and shapes."""
