package buildkittest

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Base is an image of busybox and files of this machine, such as the tools of a language.
type Base struct {
	// Name is the image's name and tag. The registry keeps the image for later runs, so other files need another tag.
	Name string
	// Files are files and folders, which have the same paths in the image. Skip leaves some out.
	Files []string
	Skip  func(path string) bool
	// Links are symbolic links, by their paths.
	Links map[string]string
	Env   []string
}

// Push makes the image available to the daemon.
func (b Base) Push(t testing.TB) {
	t.Helper()
	to, err := name.NewTag(Registry + "/" + b.Name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Head(to); err == nil {
		return
	}
	Busybox(t)
	image, err := b.image(filepath.Join(t.TempDir(), "layer.tar"))
	if err == nil {
		err = remote.Write(to, image)
	}
	if err != nil {
		t.Fatalf("make the base %s: %v", b.Name, err)
	}
}

// image returns the image, whose layer is a file at path.
func (b Base) image(path string) (v1.Image, error) {
	below, err := name.NewTag(Registry + "/library/busybox")
	if err != nil {
		return nil, err
	}
	image, err := remote.Image(below)
	if err != nil {
		return nil, err
	}
	if err := b.pack(path); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromFile(path, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	settings := config.Config
	settings.Env = b.Env
	return mutate.Config(image, settings)
}

// pack writes the files into an archive. They have no times, and belong to the root user.
func (b Base) pack(path string) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	defer to.Close()
	archive := tar.NewWriter(to)
	for _, root := range b.Files {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case b.Skip != nil && b.Skip(path):
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			return add(archive, path, path != root)
		})
		if err != nil {
			return err
		}
	}
	for path, to := range b.Links {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: path[1:], Linkname: to, Mode: 0o777}); err != nil {
			return err
		}
	}
	return archive.Close()
}

// add adds a file or a folder, or a link as one.
func add(archive *tar.Writer, path string, asLink bool) error {
	look := os.Stat
	if asLink {
		look = os.Lstat
	}
	info, err := look(path)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeDir, Name: path[1:], Mode: int64(info.Mode().Perm())}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = os.Readlink(path); err != nil {
			return err
		}
	case info.Mode().IsRegular():
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
	case !info.IsDir():
		return fmt.Errorf("%s is no file", path)
	}
	if err := archive.WriteHeader(h); err != nil || h.Size == 0 {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(archive, from)
	return err
}
