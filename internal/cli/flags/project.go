package flags

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// Project are the flags that choose the Tiltfile and the cluster.
type Project struct {
	file, Context, Namespace string
	// Ledger is the URL of the storage of the ledger, instead of the one that the Tiltfile names.
	Ledger string
	// Session is a session name that selects a project; chosen reports whether --file was given, and followed is that project.
	Session  string
	chosen   func() bool
	followed *sessions.Project
	// Names means that the command gives a session the name: it may be new, and then a Tiltfile in the working folder may be meant, too.
	Names bool
	// Begins means that, in the folder of its own Tiltfile, the command begins such a session in the cluster that kubectl would use.
	Begins bool
	// Cluster is a name in the Tiltfile, or a context; see AddCluster.
	Cluster string
}

// Add adds the flags to a command.
func (f *Project) Add(c *cobra.Command) {
	c.Flags().StringVarP(&f.file, "file", "f", "Tiltfile", "path of the Tiltfile")
	c.Flags().StringVar(&f.Session, "session", "", "work on the project of the session that runs, or last ran, under this name: its Tiltfile, context and namespace")
	f.chosen = func() bool { return c.Flags().Changed("file") }
	c.PreRunE = func(c *cobra.Command, _ []string) error { return f.follow(c) }
	_ = c.RegisterFlagCompletionFunc("session", completeSessions)
	c.Flags().StringVar(&f.Context, "context", "", "kubeconfig context to use instead of the current one")
	c.Flags().StringVar(&f.Namespace, "namespace", "", "namespace for objects that name none, instead of the context's")
	c.Flags().StringVar(&f.Ledger, "ledger", "", "URL of the storage of the ledger, instead of the one that the Tiltfile names: see hone docs state")
}

// AddCluster adds the flag that chooses one cluster of a project that has several.
func (f *Project) AddCluster(c *cobra.Command) {
	c.Flags().StringVar(&f.Cluster, "cluster", "", "only this cluster of the project: its name in the Tiltfile, or its context")
	_ = c.RegisterFlagCompletionFunc("cluster", f.completeClusters)
}

// Fix sets the flags to the values that a command has found in another source. It returns a problem for a flag that is given as
// well.
func (f *Project) Fix(c *cobra.Command, tiltfile, kubeContext, namespace, source string) error {
	for _, name := range []string{"file", "session", "context", "namespace"} {
		if c.Flags().Changed(name) {
			return problem.New(fmt.Sprintf("--%s is given, and %s holds it already", name, source), "leave the flag out, or make another one")
		}
	}
	f.file, f.Context, f.Namespace = tiltfile, kubeContext, namespace
	return nil
}

// Path returns the absolute path of the Tiltfile, which need not exist.
func (f *Project) Path() (string, error) {
	path, err := filepath.Abs(f.file)
	if err != nil {
		return "", fmt.Errorf("find the Tiltfile: %w", err)
	}
	if f.followed != nil {
		led := f.followed.Tiltfile
		if _, err := os.Stat(path); f.Names && err == nil && sessions.Real(path) != led {
			return "", problem.New(fmt.Sprintf("session %s belongs to %s, and there is also a Tiltfile here", f.Session, led),
				fmt.Sprintf("choose one: -f %s, or -f %s", led, f.file))
		}
		path = led
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", problem.New(path+" is a folder", "name the Tiltfile in it: -f "+filepath.Join(f.file, "Tiltfile"))
	}
	return path, nil
}

// ResolveFolder returns the absolute path of the Tiltfile, whose folder must exist.
func (f *Project) ResolveFolder() (string, error) {
	path, err := f.Path()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(path)); os.IsNotExist(err) || err == nil && !info.IsDir() {
		return "", problem.New("there is no folder "+filepath.Dir(path), "run hone where the Tiltfile is, or name it: hone up -f PATH")
	}
	return path, nil
}

// Resolve returns the absolute path of the Tiltfile, which must exist.
func (f *Project) Resolve() (string, error) {
	path, err := f.Path()
	if err != nil {
		return "", err
	}
	_, err = os.Stat(path)
	switch {
	case os.IsNotExist(err) && f.followed != nil:
		return "", problem.New(fmt.Sprintf("no Tiltfile found at %s, which the session name %s selects", path, f.Session), "name the Tiltfile: -f PATH")
	case os.IsNotExist(err):
		return "", problem.New("no Tiltfile found at "+path, "run hone where the Tiltfile is, or name it: hone up -f PATH").See("tiltfile")
	case err != nil:
		return "", fmt.Errorf("find the Tiltfile: %w", err)
	}
	return path, nil
}
