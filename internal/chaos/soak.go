//go:build linux

package main

import (
	"context"

	"github.com/hone-dev/hone/internal/harness"
)

func (o options) soak(ctx context.Context, cluster *harness.Cluster, chosen []scenario) error {
	return nil
}
