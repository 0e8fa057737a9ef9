//go:build !unix

package rawfile

import "os"

// File is an open file. It is for use by one goroutine, which closes it.
type File struct{ *os.File }

// Open opens a file for reading.
func Open(path string) (File, error) {
	f, err := os.Open(path)
	return File{f}, err
}

// Info returns what is known of the file now.
func (f File) Info() (Info, error) {
	fi, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return Info{Regular: fi.Mode().IsRegular(), Perm: fi.Mode().Perm(), Size: fi.Size(), ModTime: fi.ModTime().UnixNano()}, nil
}
