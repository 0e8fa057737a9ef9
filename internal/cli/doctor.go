package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/build"
	"github.com/hone-dev/hone/internal/docker"
	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/watch"
	"github.com/hone-dev/hone/pkg/model"
)

// doctorTimeout bounds each question.
const doctorTimeout = 10 * time.Second

func newDoctor(g *global) *cobra.Command {
	var f projectFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what hone finds on this machine and in the cluster, and what is wrong with it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return doctor(cmd.Context(), g, f) },
	}
	c.Flags().StringVar(&f.context, "context", "", "kubeconfig context to use instead of the current one")
	c.Flags().StringVar(&f.namespace, "namespace", "", "namespace to use instead of the context's")
	return c
}

// report collects what doctor has found, and what is wrong.
type report struct {
	w      *tabwriter.Writer
	faults []error
}

func (r *report) section(name string)     { fmt.Fprintf(r.w, "%s\n", name) }
func (r *report) line(name, value string) { fmt.Fprintf(r.w, "  %s\t%s\n", name, value) }
func (r *report) fault(what string, e error) {
	r.line(what, "✖ "+e.Error())
	r.faults = append(r.faults, e)
}

func doctor(ctx context.Context, g *global, f projectFlags) error {
	r := &report{w: tabwriter.NewWriter(g.stdout, 0, 4, 2, ' ', 0)}
	r.section(versionText())
	r.section("Kubernetes")
	kc, err := k8s.Load(k8s.Config{Context: f.context, Namespace: f.namespace})
	cluster := model.Cluster{}
	if err != nil {
		r.fault("kubeconfig", err)
	} else {
		cluster = r.kubernetes(ctx, kc)
	}
	r.section("Container engine")
	engine := r.engine(ctx, cluster)
	if engine != nil && cluster.Context != "" {
		plan := build.Probe(ctx).Choose(cluster, *engine, model.Registry{}, model.ImageTarget{Ref: "IMAGE"})
		r.line("images are delivered by", fmt.Sprintf("%s (%s)", plan.Method, plan.Why))
	}
	r.section("Files")
	r.files()
	_ = r.w.Flush()
	if len(r.faults) == 0 {
		return nil
	}
	texts := make([]string, len(r.faults))
	for i, e := range r.faults {
		texts[i] = problem.Text(e)
	}
	return fmt.Errorf("%d fault(s) found\n\n%s", len(r.faults), strings.Join(texts, "\n\n"))
}

func (r *report) kubernetes(ctx context.Context, kc *k8s.Kubeconfig) model.Cluster {
	c := kc.Cluster()
	if c.Context == "" {
		r.line("kubeconfig", "none: set KUBECONFIG to use a cluster")
		return c
	}
	r.line("context", c.Context)
	r.line("server", c.Server)
	r.line("namespace", c.Namespace)
	allowed := "yes, a development cluster"
	if !c.Product.Dev() {
		allowed = fmt.Sprintf("only with allow_k8s_contexts(%q) in the Tiltfile", c.Context)
	}
	r.line("product", string(c.Product))
	r.line("hone may change it", allowed)
	client, err := kc.Connect()
	if err != nil {
		r.fault("connection", err)
		return model.Cluster{}
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	found, err := client.Detect(ctx)
	if err != nil {
		r.fault("connection", err)
		return model.Cluster{}
	}
	r.line("version", found.Version)
	r.line("nodes", fmt.Sprintf("%d, %s, %s", found.Nodes, found.Arch, found.Runtime))
	registry := "none announced"
	if !found.Registry.Empty() {
		registry = found.Registry.Host
	}
	r.line("registry", registry)
	return found
}

func (r *report) engine(ctx context.Context, cluster model.Cluster) *docker.Info {
	endpoint, err := docker.FindFor(ctx, cluster)
	if err != nil {
		r.fault("engine", err)
		return nil
	}
	e, err := docker.New(endpoint)
	if err != nil {
		r.fault("engine", err)
		return nil
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	info, err := e.Ping(ctx)
	if err != nil {
		r.fault("engine", err)
		return nil
	}
	r.line("address", info.Host)
	r.line("version", fmt.Sprintf("%s, API %s, %s/%s", info.Version, info.APIVersion, info.OS, info.Arch))
	builder := "BuildKit"
	if !info.BuildKit {
		builder = "the classic builder"
	}
	r.line("builds with", builder)
	return &info
}

func (r *report) files() {
	if _, err := watch.New(watch.Options{}); err != nil {
		r.fault("watching", err)
		return
	}
	r.line("watching", "works")
	for _, limit := range []string{"max_user_watches", "max_user_instances"} {
		if b, err := os.ReadFile("/proc/sys/fs/inotify/" + limit); err == nil {
			r.line(limit, strings.TrimSpace(string(b)))
		}
	}
	r.line("records", stateDir())
}
