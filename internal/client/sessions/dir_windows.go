package sessions

import (
	"io/fs"
	"os"
	"path/filepath"
)

// owned holds for every file: the user's profile is closed to others.
func owned(fs.FileInfo) bool { return true }

// exposed holds for no file: modes say nothing here.
func exposed(fs.FileInfo) bool { return false }

// shortDir is a folder of this user whose path is short.
func shortDir() string { return filepath.Join(os.TempDir(), "hone") }
