package self

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// pruneFlags are the flags of hone docker-prune.
type pruneFlags struct {
	project flags.Project
	images  []string
	all     bool
	maxAge  time.Duration
	keep    int
	flags   *pflag.FlagSet
}

func newDockerPrune(g *command.Global) *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "docker-prune [-- TILTFILE ARGS]",
		Short: "Remove hone's old images from the container engine",
		Long: `Removes old versions of the images that the Tiltfile declares from the container engine: versions that hone built longer ago
than docker_prune_settings() allows, except for the newest few of each image. It prunes once, even if the settings disable
pruning in sessions. It also removes old versions of the image that brings hone's program into pods.

Images that a container or a running session uses stay, and so does everything that hone has not made. Images of other
projects stay unless --all is given. If an image also has a name that hone did not give it, only hone's name is removed.`,
		Example: "  hone docker-prune\n  hone docker-prune --image shop/api --max-age 0s --keep-recent 1\n  hone docker-prune --all --max-age 72h",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), g, args) },
	}
	f.project.Add(c)
	c.Flags().StringSliceVar(&f.images, "image", nil, "prune only this image, by its name in the Tiltfile; may be given more than once")
	c.Flags().BoolVar(&f.all, "all", false, "prune every image that hone built on this engine, including those of other projects")
	c.Flags().DurationVar(&f.maxAge, "max-age", 0, "keep images younger than this, such as 6h (default: from docker_prune_settings, else 6h)")
	c.Flags().IntVar(&f.keep, "keep-recent", 0, "keep this many of the newest versions of each image (default: from docker_prune_settings, else 2)")
	for _, name := range []string{"max-age", "keep-recent"} {
		c.Flags().Lookup(name).DefValue = "" // the default is in the Tiltfile
	}
	f.flags = c.Flags()
	c.MarkFlagsMutuallyExclusive("image", "all")
	return c
}

func (f *pruneFlags) run(ctx context.Context, g *command.Global, args []string) error {
	if f.keep < 0 || f.maxAge < 0 {
		return problem.New("--keep-recent and --max-age must not be negative", "for example: --keep-recent 2 --max-age 6h")
	}
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Resolve, Args: args, Subcommand: "docker-prune"}, g.Printer(g.Stderr, g.Stderr))
	if err != nil {
		return err
	}
	defer p.Close()
	r := tiltfile.Load(ctx, p.Evaluation())
	if r.Err != nil {
		return command.WithCode(r.Err, command.ExitTiltfile)
	}
	req, err := f.request(r.Tiltfile)
	if err != nil {
		return err
	}
	engine, err := docker.Open(ctx, p.Known)
	if err != nil {
		return err
	}
	defer engine.Close()
	if req.Keep, err = imagesInUse(ctx, flags.Registry()); err != nil {
		return err
	}
	return prune(ctx, g, engine, req)
}

// request returns the prune request of the flags for a Tiltfile's images.
func (f *pruneFlags) request(t model.Tiltfile) (imagebuild.PruneRequest, error) {
	req := imagebuild.PruneRequest{Settings: t.DockerPrune, All: f.all, Of: f.images}
	if f.flags.Changed("max-age") {
		req.Settings.MaxAge = f.maxAge
	}
	if f.flags.Changed("keep-recent") {
		req.Settings.KeepRecent = f.keep
	}
	declared := t.ImageRefs()
	for _, name := range f.images {
		if !slices.Contains(declared, name) {
			return req, unknownImage(name, declared)
		}
	}
	if f.images == nil {
		req.Of = append(slices.Clip(declared), imagebuild.SyncletName)
	}
	return req, nil
}

// unknownImage returns the problem of an image name that the Tiltfile does not declare.
func unknownImage(name string, declared []string) error {
	summary := fmt.Sprintf("the Tiltfile declares no image %q", name)
	switch near := suggest.Nearest(name, declared); {
	case near != "":
		return problem.New(summary, fmt.Sprintf("did you mean %s?", near))
	case len(declared) == 0:
		return problem.New(summary, "it declares none; --all also prunes the images of other projects")
	}
	return problem.New(summary, "it has: "+strings.Join(declared, ", "))
}

// prune removes old images and reports the removed ones.
func prune(ctx context.Context, g *command.Global, engine docker.Client, req imagebuild.PruneRequest) error {
	out, done := g.Stdout, g.Waiting("the container engine")
	_, err := engine.Ping(ctx)
	done()
	if err != nil {
		if _, told := problem.Of(err); told {
			return err
		}
		return problem.Wrap(err, "the container engine does not answer", "start it, or set its address: DOCKER_HOST, or docker context use NAME")
	}
	fmt.Fprintf(out, "Removing images that hone built more than %s ago, except the newest %d of %s\n", age(req.Settings.MaxAge), req.Settings.KeepRecent, scope(req))
	removed, err := imagebuild.New(engine).Prune(ctx, req)
	for _, ref := range removed.Refs {
		fmt.Fprintf(out, "  removed %s\n", ref)
	}
	if err != nil {
		return fmt.Errorf("remove old images: %w", err)
	}
	if len(removed.Refs) == 0 {
		fmt.Fprintln(out, "There is nothing to remove.")
		return nil
	}
	_, err = fmt.Fprintf(out, "%d references removed, %d images with %.1f MB, counting shared layers for each\n",
		len(removed.Refs), removed.Images, float64(removed.Bytes)/1e6)
	return err
}

// scope describes the images to prune: "each of api, web".
func scope(req imagebuild.PruneRequest) string {
	if req.All {
		return "each name, of all projects"
	}
	return "each of " + strings.Join(req.Of, ", ")
}

// age returns a duration for people: "6h", not "6h0m0s".
func age(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// imagesInUse returns the references of the images that running sessions have deployed, or are about to deploy. A session
// that does not answer is an error: its images would be removed.
func imagesInUse(ctx context.Context, r *sessions.Registry) ([]string, error) {
	living, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, flags.AskLimit)
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

// imagesOf requests a session's images.
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
