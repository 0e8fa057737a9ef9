//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// chained is the number of services with an image.
	chained = 10
	// chainedImage begins the names of their images.
	chainedImage = "bench-cold"
	// chainedDockerfile takes time and no CPU, as a build on a machine with enough cores does.
	chainedDockerfile = "FROM busybox\nCOPY seed /seed\nRUN sleep 3\nCMD [\"sleep\", \"100000\"]\n"
	chainedYAML       = `apiVersion: apps/v1
kind: Deployment
metadata: {name: svc-%[1]d}
spec:
  selector: {matchLabels: {app: svc-%[1]d}}
  template:
    metadata: {labels: {app: svc-%[1]d}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: bench-cold-%[1]d}]
---
`
)

// measureColdImages measures the start of ten services with images. In a chain, each waits for the one before.
func measureColdImages(ctx context.Context, b *bench) error {
	b.table.section(fmt.Sprintf("cold: hone ci with the images of %d services, whose builds take 3 s each", chained),
		"floor of a chain: the longest bare BuildKit solve, then bare starts of the services, each after the one before",
		fmt.Sprintf("floor side by side: bare BuildKit solves, %d at a time, then one start", model.DefaultMaxParallel))
	engine, err := harness.FindEngine()
	if err != nil {
		return err
	}
	defer engine.Close()
	defer harness.RemoveImages(context.WithoutCancel(ctx), chainedImage)
	for _, linked := range []bool{true, false} {
		if err := b.coldImages(ctx, engine, linked); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) coldImages(ctx context.Context, engine docker.Client, linked bool) error {
	files := map[string]string{}
	var tiltfile, all strings.Builder
	tiltfile.WriteString("k8s_yaml('all.yaml')\n")
	for i := range chained {
		fmt.Fprintf(&all, chainedYAML, i)
		fmt.Fprintf(&tiltfile, "docker_build('%[1]s-%[2]d', 's%[2]d')\n", chainedImage, i)
		if linked && i > 0 {
			fmt.Fprintf(&tiltfile, "k8s_resource('svc-%d', resource_deps=['svc-%d'])\n", i, i-1)
		}
		files[fmt.Sprintf("s%d/Dockerfile", i)], files[fmt.Sprintf("s%d/seed", i)] = chainedDockerfile, rand.Text()
	}
	files["Tiltfile"], files["all.yaml"] = tiltfile.String(), all.String()
	p, remove, err := b.project(ctx, files)
	if err != nil {
		return err
	}
	defer remove()
	ns := p.Namespace
	use, err := p.Run(ctx, "ci", "--namespace", ns)
	if err != nil {
		return err
	}
	images, err := b.cluster.imagesOf(ctx, ns)
	if err != nil {
		return err
	}
	if _, err := p.Run(ctx, "down", "--namespace", ns); err != nil {
		return err
	}
	if err := b.quiet(ctx, ns); err != nil {
		return err
	}
	starts, err := b.cluster.startEach(ctx, ns, images)
	if err != nil {
		return err
	}
	builds, took, err := buildAll(ctx, engine, p.Dir)
	if err != nil {
		return err
	}
	what, floor, name := fmt.Sprintf("ci, %d images side by side", chained), took+starts.median(), "builds + one start"
	if linked {
		what, floor, name = fmt.Sprintf("ci, %d images in a chain", chained), builds.at(1), "longest build + starts"
		for _, s := range starts {
			floor += s
		}
	}
	b.table.print(row{what, short(use.Wall), ratio(use.Wall, floor, fmt.Sprintf("%s (%s)", name, short(floor))), ""})
	return nil
}

// imagesOf returns the image of each Deployment in a namespace.
func (c *cluster) imagesOf(ctx context.Context, namespace string) (map[string]string, error) {
	list, err := c.Client.Dynamic().Resource(deployments).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	images := map[string]string{}
	for _, d := range list.Items {
		containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
		if len(containers) == 1 {
			image, _, _ := unstructured.NestedString(containers[0].(map[string]any), "image")
			images[d.GetName()] = image
		}
	}
	if len(images) != chained {
		return nil, fmt.Errorf("%d images instead of %d", len(images), chained)
	}
	return images, nil
}

// startEach applies the Deployments with their images, which the node has, one after the other is ready, and times each.
func (c *cluster) startEach(ctx context.Context, namespace string, images map[string]string) (all times, err error) {
	for i := range chained {
		u := &unstructured.Unstructured{}
		name := fmt.Sprintf("svc-%d", i)
		text := strings.Replace(fmt.Sprintf(chainedYAML, i), fmt.Sprintf("image: %s-%d", chainedImage, i), "image: '"+images[name]+"'", 1)
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			return nil, err
		}
		u.SetNamespace(namespace)
		began := time.Now()
		if err := c.apply(ctx, u); err != nil {
			return nil, err
		}
		err := harness.Await(ctx, time.Minute, name+" to be ready", func() error {
			d, err := c.Client.Dynamic().Resource(deployments).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if ready, _, _ := unstructured.NestedInt64(d.Object, "status", "readyReplicas"); ready == 0 {
				return errors.New("it is not")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, time.Since(began))
	}
	return all, nil
}

// buildAll builds the images with nothing but BuildKit, as many at a time as hone does. It returns the time of each, and of all.
func buildAll(ctx context.Context, engine docker.Client, dir string) (all times, took time.Duration, err error) {
	all = make(times, chained)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(model.DefaultMaxParallel)
	began := time.Now()
	for i := range chained {
		g.Go(func() error {
			began := time.Now()
			in := filepath.Join(dir, fmt.Sprintf("s%d", i))
			_, err := engine.Build(ctx, docker.BuildRequest{Context: in, Dockerfile: filepath.Join(in, "Dockerfile"), Contents: chainedDockerfile, NoCache: true,
				Labels: map[string]string{imagebuild.Label: chainedImage}, Tags: []string{fmt.Sprintf("%s-%d:bare", chainedImage, i)}})
			all[i] = time.Since(began)
			return err
		})
	}
	err = g.Wait()
	return all, time.Since(began), err
}
