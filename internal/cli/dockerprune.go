package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/build"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/docker"
	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/objects"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/session"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/model"
)

func newDockerPrune(g *global) *cobra.Command {
	var f tiltfileFlags
	c := &cobra.Command{
		Use:   "docker-prune [-- TILTFILE ARGS]",
		Short: "Remove old images of hone's from the container engine, as a session does now and then",
		Long: `Removes from the container engine the images that hone has built and that are older than docker_prune_settings() in the
Tiltfile says, but for the newest few of each name. It is done once and now, also where the settings switch pruning off in
sessions.

Images that a container or a running session uses stay, and so does everything that hone has not made: of an image with
another name, too, only hone's own name is removed.`,
		RunE: func(cmd *cobra.Command, args []string) error { return dockerPrune(cmd.Context(), g, f, args) },
	}
	f.project.add(c)
	return c
}

func dockerPrune(ctx context.Context, g *global, f tiltfileFlags, args []string) error {
	o, err := evaluation(g, f, args)
	if err != nil {
		return err
	}
	o.Subcommand = "docker-prune"
	r := tiltfile.Load(ctx, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Err != nil {
		return coded{r.Err, exitTiltfile}
	}
	kc, err := k8s.Load(k8s.Config{Context: f.project.context, Namespace: f.project.namespace})
	if err != nil {
		return err
	}
	engine, cleanup, err := provideDocker(ctx, kc)
	if err != nil {
		return err
	}
	defer cleanup()
	keep, err := imagesInUse(ctx, registry())
	if err != nil {
		return err
	}
	return prune(ctx, g.stdout, engine, r.Tiltfile.DockerPrune, keep)
}

// prune removes old images and says what it has done. Keep are references that stay.
func prune(ctx context.Context, out io.Writer, engine docker.Client, settings model.DockerPruneSettings, keep []string) error {
	if _, err := engine.Ping(ctx); err != nil {
		if _, told := problem.Of(err); told {
			return err
		}
		return problem.Wrap(err, "the container engine does not answer", "start it, or say where it is: DOCKER_HOST, or docker context use NAME")
	}
	fmt.Fprintf(out, "Removing images that hone built more than %s ago, but for the newest %d of each name\n", age(settings.MaxAge), settings.KeepRecent)
	done, err := build.New(engine).Prune(ctx, settings, keep)
	for _, ref := range done.Refs {
		fmt.Fprintf(out, "  removed %s\n", ref)
	}
	if err != nil {
		return fmt.Errorf("remove old images: %w", err)
	}
	if len(done.Refs) == 0 {
		fmt.Fprintln(out, "There is nothing to remove.")
		return nil
	}
	_, err = fmt.Fprintf(out, "%d references removed, %d images with %.1f MB, layers that they share counted with each\n",
		len(done.Refs), done.Images, float64(done.Bytes)/1e6)
	return err
}

// age is a duration for people: "6h", not "6h0m0s".
func age(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// imagesInUse returns the references of the images that running sessions have deployed, or are about to. A session that does
// not answer is an error: what it needs would be removed.
func imagesInUse(ctx context.Context, r *session.Registry) ([]string, error) {
	living, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	var keep []string
	for _, s := range living {
		if s.Socket == "" {
			continue // it has built nothing yet
		}
		used, err := imagesOf(ctx, client.Over(s))
		if err != nil {
			return nil, err
		}
		keep = append(keep, used...)
	}
	return keep, nil
}

// imagesOf asks a session for its images.
func imagesOf(ctx context.Context, c *client.Client) ([]string, error) {
	s, err := objects.Open(ctx, c.RESTConfig(), io.Discard)
	if err != nil {
		return nil, err
	}
	doc, err := s.Raw(ctx, "/apis/hone.dev/v1alpha1/"+state.Updates.Name())
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Entry struct {
				Images map[string]struct{ Local, Cluster string }
			}
		}
	}
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, fmt.Errorf("read the images of session %s: %w", c.Session.Name, err)
	}
	var refs []string
	for _, i := range list.Items {
		for _, image := range i.Entry.Images {
			refs = append(refs, image.Local, image.Cluster)
		}
	}
	return refs, nil
}
