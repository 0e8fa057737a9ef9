//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/test/harness"
)

// coldWay is the line from the box to a cluster, with the numbers of Deployments that are measured over it.
type coldWay struct {
	line  *way // nil for none
	sizes []int
}

func (w coldWay) name() string {
	if w.line == nil {
		return "near"
	}
	return w.line.name
}

var coldWays = []coldWay{
	{nil, []int{10, 100, 300, 1000}},
	{&way{name: "50 ms 20 Mbit/s", trip: 50 * time.Millisecond, mbit: 20}, []int{10, 100, 300}},
}

// coldConnections is the number of requests of a floor that are on their way at a time.
const coldConnections = 8

// coldRounds is the number of times that each command is measured, in namespaces of their own; the median counts.
const coldRounds = 3

// measureCold measures the start and the end of projects of many Deployments without pods.
func measureCold(ctx context.Context, b *bench) error {
	b.table.section("cold: hone ci on an empty namespace, again with nothing to do, and down",
		fmt.Sprintf("floors, over one client with %d requests at a time: the same objects applied; deleted. Unchanged: listing them once", coldConnections))
	for _, w := range coldWays {
		for _, n := range w.sizes {
			if err := b.cold(ctx, w, n); err != nil {
				return fmt.Errorf("%d Deployments, %s: %w", n, w.name(), err)
			}
		}
	}
	return nil
}

// coldTimes are the times of one round. Applied is the part of cold until all objects were there, and observed the time until the
// controllers have seen all objects of apply.
type coldTimes struct{ cold, applied, same, down, apply, observed, list, remove times }

func (b *bench) cold(ctx context.Context, w coldWay, n int) error {
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, kubeconfig := b.cluster, ""
	if w.line != nil {
		wire, path, err := stretched(w.line.line(), dir)
		if err != nil {
			return err
		}
		defer wire.Close()
		if c, err = connect(path); err != nil {
			return err
		}
		defer c.Close()
		kubeconfig = path
	}
	var all coldTimes
	var use harness.Use
	for range coldRounds {
		u, err := b.coldRound(ctx, c, kubeconfig, n, &all)
		if err != nil {
			return err
		}
		use.RSS, use.CPU = max(use.RSS, u.RSS), max(use.CPU, u.CPU)
	}
	print := func(what string, t, floor times, name, rest string) {
		b.table.print(row{fmt.Sprintf("%s, %d %s", what, n, w.name()), short(t.median()) + rest, ratio(t.median(), floor.median(), fmt.Sprintf("%s (%s)", name, short(floor.median()))), ""})
	}
	print("applied", all.applied, all.apply, "apply", "")
	print("ci", all.cold, all.observed, "apply, observe", fmt.Sprintf(", CPU %s, %s", short(use.CPU), megabytes(use.RSS)))
	print("ci, unchanged", all.same, all.list, "list", "")
	print("down", all.down, all.remove, "delete", "")
	return nil
}

// coldRound measures each command and each floor once. It returns the cost of the start.
func (b *bench) coldRound(ctx context.Context, c *cluster, kubeconfig string, n int, all *coldTimes) (use harness.Use, err error) {
	objects, text, err := coldObjects(n)
	if err != nil {
		return use, err
	}
	p, remove, err := b.project(ctx, map[string]string{"Tiltfile": "k8s_yaml('all.yaml')\n", "all.yaml": text})
	if err != nil {
		return use, err
	}
	defer remove()
	ns := p.Namespace
	for _, u := range objects {
		u.SetNamespace(ns)
	}
	p.Kubeconfig = kubeconfig
	timed := func(into *times, run func() error) {
		if err == nil {
			began := time.Now()
			err = run()
			*into = append(*into, time.Since(began))
		}
	}
	hone := func(args ...string) func() error {
		return func() error {
			u, err := p.Run(ctx, args...)
			use = harness.Use{CPU: max(use.CPU, u.CPU), RSS: max(use.RSS, u.RSS)}
			return err
		}
	}
	began := time.Now()
	timed(&all.apply, func() error { return c.each(ctx, objects, c.apply) })
	timed(new(times), func() error { return b.cluster.observed(ctx, ns) })
	all.observed = append(all.observed, time.Since(began))
	timed(&all.list, func() error {
		_, err := c.Client.Dynamic().Resource(deployments).Namespace(ns).List(ctx, metav1.ListOptions{})
		return err
	})
	timed(&all.remove, func() error { return c.each(ctx, objects, c.remove) })
	timed(new(times), func() error { return b.quiet(ctx, ns) })
	var w watch.Interface
	timed(new(times), func() (err error) { w, err = b.cluster.watch(ctx, ns); return err })
	if err != nil {
		return use, err
	}
	began = time.Now()
	there := added(w, n)
	timed(&all.cold, hone("ci", "--namespace", ns))
	w.Stop()
	if at, ok := <-there; ok {
		all.applied = append(all.applied, at.Sub(began))
	}
	cost := use
	timed(&all.same, hone("ci", "--namespace", ns))
	timed(&all.down, hone("down", "--namespace", ns))
	return cost, err
}

// coldObjects returns Deployments without pods, and their YAML.
func coldObjects(n int) (objects []*unstructured.Unstructured, text string, err error) {
	var all strings.Builder
	for i := range n {
		u := &unstructured.Unstructured{}
		one := fmt.Appendf(nil, scaleYAML, i)
		if err := yaml.Unmarshal(one, &u.Object); err != nil {
			return nil, "", err
		}
		objects = append(objects, u)
		all.Write(one)
	}
	return objects, all.String(), nil
}

// each sends one request for each object.
func (c *cluster) each(ctx context.Context, objects []*unstructured.Unstructured, send func(context.Context, *unstructured.Unstructured) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(coldConnections)
	for _, u := range objects {
		g.Go(func() error { return send(ctx, u) })
	}
	return g.Wait()
}

func (c *cluster) apply(ctx context.Context, u *unstructured.Unstructured) error {
	_, err := c.Client.Dynamic().Resource(deployments).Namespace(u.GetNamespace()).
		Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "hone-bench", Force: true})
	return err
}

func (c *cluster) remove(ctx context.Context, u *unstructured.Unstructured) error {
	return c.Client.Dynamic().Resource(deployments).Namespace(u.GetNamespace()).Delete(ctx, u.GetName(), metav1.DeleteOptions{})
}

// watch watches the Deployments of a namespace, from any recent state on: the API server may take seconds to know that it has the newest.
func (c *cluster) watch(ctx context.Context, namespace string) (watch.Interface, error) {
	return c.Client.Dynamic().Resource(deployments).Namespace(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
}

// added returns a channel that gets the time at which n objects were added.
func added(w watch.Interface, n int) <-chan time.Time {
	out := make(chan time.Time, 1)
	go func() {
		defer close(out)
		for e := range w.ResultChan() {
			if e.Type == watch.Added {
				n--
			}
			if n == 0 {
				out <- time.Now()
				return
			}
		}
	}()
	return out
}

// quiet waits until the controllers have done with what was deleted.
func (b *bench) quiet(ctx context.Context, namespace string) error {
	return harness.Await(ctx, time.Minute, "the namespace to be empty", func() error {
		for _, kind := range []string{"deployments", "replicasets"} {
			resource := deployments
			resource.Resource = kind
			left, err := b.cluster.Client.Dynamic().Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
			switch {
			case err != nil:
				return err
			case len(left.Items) > 0:
				return errors.New(kind + " are left")
			}
		}
		return nil
	})
}
