package flags

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// follow finds the session that --session names. The command then works on the Tiltfile, the context and the namespace of that
// session, unless its flags choose others.
func (f *Project) follow(c *cobra.Command) error {
	if f.Session == "" {
		return nil
	}
	is, known, err := named(f.Session)
	switch {
	case err != nil:
		return err
	case !known && (f.Names || f.chosen()):
		return nil
	case !known:
		return problem.New(fmt.Sprintf("no session is called %q, and none was", f.Session), "hone sessions lists those that run; leave --session out for the Tiltfile in this folder")
	}
	if f.onlyNames(is) {
		return nil
	}
	if is.Context != "" && !c.Flags().Changed("context") {
		f.Context, f.Namespace = is.Context, cmp.Or(f.Namespace, is.Namespace)
		if _, err := k8s.Load(k8s.Config{Context: f.Context}); err != nil {
			return problem.Wrap(err, fmt.Sprintf("session %s works in context %s, which cannot be used", f.Session, f.Context), "choose the cluster yourself: --context NAME").See("clusters")
		}
	}
	f.followed = &is
	return nil
}

// onlyNames reports whether --session is the name of a new session, or beside the point: the Tiltfile and the cluster are chosen as if
// it were left out.
func (f *Project) onlyNames(is sessions.Project) bool {
	here, err := filepath.Abs(f.file)
	mine := err == nil && sessions.Real(here) == is.Tiltfile
	if mine {
		return f.Begins
	}
	return f.chosen()
}

// Say names the project that the command is about to work on, if the name of a session has led to it. known is its cluster.
func (f *Project) Say(known model.Cluster, log logstore.Logger) {
	if f.followed == nil {
		return
	}
	where := ""
	if known.Context != "" {
		where = fmt.Sprintf(", in cluster %s, namespace %s", known.Context, cmp.Or(f.Namespace, known.Namespace))
	}
	logstore.Infof(log, "Working on the project of session %s: %s%s.", f.Session, f.followed.Tiltfile, where)
}

// named returns the project of the session that runs, or last ran, under a name.
func named(name string) (is sessions.Project, known bool, err error) {
	living, err := Registry().List(context.Background())
	if err != nil {
		return is, false, err
	}
	if at := slices.IndexFunc(living, func(s sessions.Info) bool { return s.Name == name }); at >= 0 {
		s := living[at]
		return sessions.Project{Tiltfile: s.Tiltfile, Session: s.Name, Context: s.Context, Namespace: s.Namespace}, true, nil
	}
	return Remembered().Named(name)
}
