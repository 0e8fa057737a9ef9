package imagebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// supervised adds the synclet to an image whose target requires it, as the program that runs the image's command, and
// returns the id of the resulting image. It is for containers that hone does not deploy, so that it cannot set their
// command.
func (b *Builder) supervised(ctx context.Context, req Request, id string) (string, error) {
	if !req.Target.Supervised {
		return id, nil
	}
	below, err := b.tagByContent(ctx, req, id) // FROM needs a name
	if err != nil {
		return "", err
	}
	im, found, err := b.docker.Inspect(ctx, below.Local)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", req.Target.Ref, err)
	}
	if !found {
		return "", fmt.Errorf("build %s: image %s is gone", req.Target.Ref, below.Local)
	}
	contents, err := supervisedDockerfile(req.Target, im, below.Local)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "hone-supervised-")
	if err != nil {
		return "", fmt.Errorf("build %s: %w", req.Target.Ref, err)
	}
	defer os.RemoveAll(dir)
	prog, err := programFor(req.Target, im.Arch)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, path.Base(protocol.Path)), prog, 0o755); err != nil {
		return "", fmt.Errorf("build %s: %w", req.Target.Ref, err)
	}
	sayAtop(req)
	id, err = b.docker.Build(ctx, docker.BuildRequest{Context: dir, Dockerfile: "Dockerfile", Contents: contents,
		Platform: im.OS + "/" + im.Arch, Labels: map[string]string{Label: req.Target.Ref}, Log: logstore.Discard})
	if err != nil {
		return "", fmt.Errorf("put the synclet into image %s: %w", req.Target.Ref, err)
	}
	return id, nil
}

// supervisedDockerfile makes the synclet run the containers' command in the Tiltfile, otherwise the command of the image.
func supervisedDockerfile(target model.ImageTarget, im docker.Image, from string) (string, error) {
	entrypoint, cmd, err := supervisedCommand(target, im.Entrypoint, im.Cmd)
	if err != nil {
		return "", err
	}
	first, err := json.Marshal(entrypoint)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("FROM %s\nCOPY %s %s\nENTRYPOINT %s\n", from, path.Base(protocol.Path), protocol.Path, first)
	if len(cmd) > 0 {
		rest, err := json.Marshal(cmd)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("CMD %s\n", rest)
	}
	return text, nil
}

// supervisedCommand returns the command of an image in which the synclet runs the containers' command.
func supervisedCommand(target model.ImageTarget, entrypoint, cmd []string) (first, rest []string, err error) {
	if target.Entrypoint != nil {
		entrypoint, cmd = target.Entrypoint, nil // as in Kubernetes, where a command replaces both
	}
	if target.ContainerArgs != nil {
		cmd = *target.ContainerArgs
	}
	if len(entrypoint)+len(cmd) == 0 {
		return nil, nil, problem.New(fmt.Sprintf("image %s has no command", target.Ref), "give it an ENTRYPOINT or CMD, or entrypoint=[…] in the Tiltfile").See("live-update")
	}
	run := []string{protocol.Path, "run"}
	if r := target.LiveUpdate.RestartProcess; r != nil && r.File != "" {
		run = append(run, "--watch", r.File)
	}
	return slices.Concat(run, []string{"--"}, entrypoint), cmd, nil
}
