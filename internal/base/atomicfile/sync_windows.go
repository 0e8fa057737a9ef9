package atomicfile

// syncFolder does nothing: Windows offers no way to flush a folder, and its file systems log renames.
func syncFolder(string) error { return nil }
