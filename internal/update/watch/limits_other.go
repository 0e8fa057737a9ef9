//go:build !linux

package watch

// limitMend returns the command that raises the limit that err reports.
func limitMend(error) string {
	return "ulimit -n 65536   # in the shell that starts hone: each watched file needs one open file"
}

// isRemote reports whether dir lies on a file system that others can change behind this machine's back.
func isRemote(string) bool { return false }
