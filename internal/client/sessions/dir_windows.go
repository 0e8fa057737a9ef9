package sessions

import (
	"io/fs"
	"os"
	"path/filepath"
)

// owned returns true for every file: other users cannot access the user's profile.
func owned(fs.FileInfo) bool { return true }

// exposed returns false for every file: modes have no meaning here.
func exposed(fs.FileInfo) bool { return false }

// shortDir returns a folder of this user with a short path.
func shortDir() string { return filepath.Join(os.TempDir(), "hone") }
