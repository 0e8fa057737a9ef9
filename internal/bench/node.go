//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	images "github.com/containerd/containerd/api/services/images/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// removeFromNode takes the images with a word in their names out of the node's containerd, with all other names of the
// same content. Failing to is no failure of the measurement.
func removeFromNode(ctx context.Context, socket, word string) {
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

// busy returns how much CPU time the machine has used and had, in ticks.
func busy() (used, all float64, err error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	var user, nice, system, idle, wait, irq, soft, steal float64
	if _, err := fmt.Sscanf(string(raw), "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return 0, 0, fmt.Errorf("read /proc/stat: %w", err)
	}
	used = user + nice + system + irq + soft + steal
	return used, used + idle + wait, nil
}
