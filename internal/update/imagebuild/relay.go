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
	spool, err := os.CreateTemp("", "hone-image-*.tar")
	if err != nil {
		return result, fmt.Errorf("keep the image: %w", err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	err = b.streamed(ctx, req, build, "", func(archive io.Reader) error {
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := spool.Truncate(0); err != nil { // of an attempt before
			return err
		}
		_, err := io.Copy(spool, archive)
		return err
	})
	if err != nil {
		return result, err
	}
	image, err := tarball.ImageFromPath(spool.Name(), nil)
	if err != nil {
		return result, fmt.Errorf("read the image of the builder: %w", err)
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

// write pushes an image.
func (r *registryClient) write(ctx context.Context, ref string, image v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, r.options(ctx)...)
}
