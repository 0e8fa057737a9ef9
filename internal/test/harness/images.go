package harness

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	images "github.com/containerd/containerd/api/services/images/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
)

// RemoveImages removes the images of the builds from the engine. It ignores errors.
func RemoveImages(ctx context.Context, word string) {
	engine, err := FindEngine()
	if err != nil {
		return
	}
	defer engine.Close()
	images, _ := engine.Images(ctx, imagebuild.Label)
	for _, image := range images {
		for _, tag := range image.Tags {
			if strings.Contains(filepath.Base(tag), word) {
				_ = engine.Remove(ctx, tag)
			}
		}
	}
}

// FindEngine connects to the container engine.
func FindEngine() (docker.Client, error) {
	endpoint, err := docker.Find()
	if err != nil {
		return nil, err
	}
	return docker.New(endpoint)
}

// RemoveFromNode removes the images with a word in their names from the node's containerd, with all other names of the
// same content. It ignores errors.
func RemoveFromNode(ctx context.Context, socket, word string) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "containerd-namespace", "k8s.io"), time.Minute)
	defer cancel()
	client := images.NewImagesClient(conn)
	list, err := client.List(ctx, &images.ListImagesRequest{})
	if err != nil {
		return
	}
	ours := map[string]bool{}
	for _, im := range list.Images {
		if strings.Contains(im.Name, word) {
			ours[im.GetTarget().GetDigest()] = true
		}
	}
	for _, im := range list.Images {
		if ours[im.GetTarget().GetDigest()] {
			_, _ = client.Delete(ctx, &images.DeleteImageRequest{Name: im.Name})
		}
	}
}
