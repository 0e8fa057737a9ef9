package liveupdate

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// smallFile is the size in bytes below which a file is read before its header is written, so that the size in the header
// is the size that was read, whatever happens to the file meanwhile.
const smallFile = 5 << 20

// Archive writes an uncompressed tar stream of the copies, to be unpacked at "/". The entries have the owners of the
// copies, or zero where a copy has none; a copy without a local path is a folder to be created. Mode and modification
// time are kept, symbolic links stay links, and the simplest header format that holds the name is used. Files that have
// vanished, or have become neither file, link nor folder, are left out. A large file that shrinks while it is read is
// padded with zero bytes; one that grows is cut: its next change corrects it.
func Archive(w io.Writer, copies []Copy) error {
	a := archiver{tar: tar.NewWriter(w)}
	for _, c := range copies {
		if err := a.add(c); err != nil {
			return fmt.Errorf("archive %s: %w", c.Local, err)
		}
	}
	return a.tar.Close()
}

type archiver struct {
	tar   *tar.Writer
	owner model.Owner  // of the current copy
	buf   bytes.Buffer // contents of the current small file
}

// add adds one copy, unless its local path has vanished or is of another kind; see Archive.
func (a *archiver) add(c Copy) error {
	name := strings.TrimPrefix(c.Remote, "/")
	if name == "" {
		return nil
	}
	a.owner = c.Owner
	if c.Local == "" {
		return a.plain(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
	}
	info, err := os.Lstat(c.Local)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return a.header(info, name+"/", "")
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(c.Local)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return a.header(info, name, filepath.ToSlash(target))
	case mode.IsRegular():
		return a.file(c.Local, name)
	}
	return nil
}

func (a *archiver) file(local, name string) error {
	f, err := os.Open(local)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size() < smallFile {
		return a.small(f, info, name)
	}
	return a.large(f, info, name)
}

func (a *archiver) small(f io.Reader, info fs.FileInfo, name string) error {
	a.buf.Reset()
	n, err := a.buf.ReadFrom(io.LimitReader(f, smallFile))
	if err != nil {
		return err
	}
	if err := a.header(sized{info, n}, name, ""); err != nil {
		return err
	}
	_, err = a.tar.Write(a.buf.Bytes())
	return err
}

func (a *archiver) large(f io.Reader, info fs.FileInfo, name string) error {
	if err := a.header(info, name, ""); err != nil {
		return err
	}
	n, err := io.CopyN(a.tar, f, info.Size())
	if errors.Is(err, io.EOF) {
		_, err = io.CopyN(a.tar, zeros{}, info.Size()-n)
	}
	return err
}

// header writes the header in the oldest format that can hold it: USTAR, otherwise GNU, which every tar reads. PAX is
// avoided, since small implementations of tar skip its records and with them the long names.
func (a *archiver) header(info fs.FileInfo, name, link string) error {
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	plain := &tar.Header{
		Typeflag: h.Typeflag, Name: name, Linkname: link, Size: h.Size, Mode: h.Mode, ModTime: h.ModTime,
	}
	if runtime.GOOS == "windows" {
		plain.Mode |= 0o755 // the file system does not record which files are executable
	}
	return a.plain(plain)
}

func (a *archiver) plain(plain *tar.Header) error {
	plain.Uid, plain.Gid, plain.Format = int(a.owner.UID), int(a.owner.GID), tar.FormatUSTAR
	if a.tar.WriteHeader(plain) == nil {
		return nil
	}
	plain.Format = tar.FormatGNU
	return a.tar.WriteHeader(plain) // if the stream failed, this fails again
}

// sized is a description of a file with the size that was actually read.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// zeros reads as zero bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
