package process

// OwnProgram returns a path that starts this program, even after its file was replaced by a newer version.
func OwnProgram() (string, error) { return "/proc/self/exe", nil }
