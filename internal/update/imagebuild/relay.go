package imagebuild

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// onlyHere reports whether only this machine reaches a registry: by its loopback addresses.
func onlyHere(host string) bool {
	host, _, _ = strings.Cut(host, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip.IsLoopback()
}

// relayed pushes the image of another builder from here, to a registry that the builder does not reach.
func (b *Builder) relayed(ctx context.Context, req Request, build docker.BuildRequest) (result model.ImageResult, err error) {
	file, err := newSpool()
	if err != nil {
		return result, err
	}
	defer file.remove()
	if err := b.streamed(ctx, req, build, "", file.take); err != nil {
		return result, err
	}
	image, err := file.image()
	if err != nil {
		return result, err
	}
	id, err := image.ConfigName()
	if err != nil {
		return result, fmt.Errorf("read the image of the builder: %w", err)
	}
	if result, err = strange(req, id.String()); err != nil {
		return result, err
	}
	if err := b.registry.write(ctx, result.Local, image); err != nil {
		return result, notPushed(result.Local, err)
	}
	return result, nil
}

// spool is a temporary file with the archive of an image.
type spool struct{ *os.File }

func newSpool() (spool, error) {
	file, err := os.CreateTemp("", "hone-image-*.tar")
	if err != nil {
		return spool{}, fmt.Errorf("keep the image: %w", err)
	}
	return spool{file}, nil
}

// take reads an archive. It may be called again, for another attempt.
func (s spool) take(archive io.Reader) error {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := s.Truncate(0); err != nil {
		return err
	}
	_, err := io.Copy(s.File, archive)
	return err
}

// image returns the image, which reads the file.
func (s spool) image() (v1.Image, error) {
	image, err := tarball.ImageFromPath(s.Name(), nil)
	if err != nil {
		return nil, fmt.Errorf("read an image: %w", err)
	}
	return image, nil
}

func (s spool) remove() {
	_ = s.Close()
	_ = os.Remove(s.Name())
}

// write pushes an image.
func (r *registryClient) write(ctx context.Context, ref string, image v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, r.options(ctx)...)
}
