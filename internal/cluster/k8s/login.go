package k8s

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// rereadPause is the shortest time between two attempts to follow a changed kubeconfig.
const rereadPause = time.Second

// entry is a way into a cluster: address, certificates and credentials, as the kubeconfig has them at one time. It is
// immutable.
type entry struct {
	config  *rest.Config
	cluster model.Cluster
	// sum is a hash of the kubeconfig's entries for this way, and of the files that they name.
	sum [sha256.Size]byte
}

// login holds the way into one cluster. The way changes when a login by another program changes the kubeconfig, or when
// the cluster starts again at another port. It never leads to another cluster than before.
type login struct {
	first *rest.Config // of the first way
	// reread reads the kubeconfig again, which consists of files; nil for a client without one.
	reread func() (*entry, error)
	files  []string
	now    atomic.Pointer[entry]
	// uid identifies the cluster. It is nil before the first answer, and empty if the cluster does not reveal it.
	uid atomic.Pointer[string]

	mu      sync.Mutex // held while the kubeconfig is read again
	seen    string     // guarded by mu; the state of the files when they were last read
	refusal error      // guarded by mu; why the files in this state are not followed
	tried   time.Time  // guarded by mu; the last attempt that has to be repeated
}

// renew looks for another way after a request over old has failed. It returns nil if there is none. If the kubeconfig
// leads to another cluster now, it returns a problem. As long as the files stay as they are, it only looks at their
// times.
func (l *login) renew(ctx context.Context, old *entry) (*entry, error) {
	if l.reread == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.now.Load(); e != old {
		return e, nil
	}
	seen := stamp(l.files, old.config)
	if seen == l.seen {
		return nil, l.refusal
	}
	if time.Since(l.tried) < rereadPause {
		return nil, nil
	}
	l.tried = time.Now()
	e, err := l.reread()
	if err != nil {
		return nil, nil // it is being written, or has no such context: the way stays
	}
	l.refusal = nil
	if e.sum == old.sum {
		l.seen = seen
		return nil, nil
	}
	same, err := l.sameCluster(ctx, old, e)
	switch {
	case err != nil:
		return nil, nil // nothing answers there yet
	case !same:
		l.seen, l.refusal = seen, otherCluster(e.cluster)
		return nil, l.refusal
	}
	l.seen = stamp(l.files, e.config)
	l.now.Store(e)
	return e, nil
}

// otherCluster is the problem of a context that leads to another cluster than when hone started.
func otherCluster(c model.Cluster) error {
	return problem.Wrap(&Unreachable{fmt.Errorf("the one at %s is not the cluster that hone works on", c.Server)},
		fmt.Sprintf("context %q of the kubeconfig leads to another cluster now", c.Context),
		"Start hone again to work on that cluster, or restore the context.")
}

// sameCluster reports whether e leads to the cluster of old: with other credentials, or at another address with a certificate from the
// same authority. Otherwise the cluster there is asked for its identity.
func (l *login) sameCluster(ctx context.Context, old, e *entry) (bool, error) {
	before, after := authority(old.config), authority(e.config)
	if bytes.Equal(before, after) && (len(after) > 0 || old.config.Host == e.config.Host) {
		return true, nil
	}
	known := l.uid.Load()
	switch {
	case known == nil: // hone has done nothing in any cluster
		return true, nil
	case *known == "":
		return false, nil
	}
	client, err := rest.HTTPClientFor(e.config)
	if err != nil {
		return false, err
	}
	defer client.CloseIdleConnections()
	core, err := newCoreClient(e.config, client)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	uid, err := core.identity(ctx)
	return err == nil && uid != nil && *uid == *known, err
}

// authority returns the certificate of the authority that signs the API server's certificate; nil for the system's
// authorities.
func authority(config *rest.Config) []byte {
	if len(config.CAData) > 0 || config.CAFile == "" {
		return config.CAData
	}
	data, _ := os.ReadFile(config.CAFile) // a client that cannot read it does not get this far
	return data
}

// stamp returns the state of the files that make up a way into a cluster, from their sizes and times.
func stamp(files []string, config *rest.Config) string {
	var b strings.Builder
	for _, list := range [][]string{files, filesOf(config)} {
		for _, f := range list {
			if info, err := os.Stat(f); err == nil {
				fmt.Fprintf(&b, "%s %d %d\n", f, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}

// filesOf returns the files that a configuration names, except the ones that client-go reads again by itself.
func filesOf(config *rest.Config) []string {
	return []string{config.CAFile, config.CertFile, config.KeyFile}
}

// entry returns the way into the chosen cluster.
func (k *Kubeconfig) entry() (*entry, error) {
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.context}
	overrides.Context.Namespace = k.cfg.Namespace
	rc, err := clientcmd.NewNonInteractiveClientConfig(*k.raw, k.context, overrides, k.rules).ClientConfig()
	if err != nil {
		return nil, problem.Wrap(err, fmt.Sprintf("the kubeconfig context %q cannot be used", k.context),
			"Look at its cluster and user: kubectl config view --minify --context "+k.context)
	}
	e := &entry{config: rc, cluster: k.Cluster()}
	ctx, said := k.raw.Contexts[k.context], clientcmdapi.NewConfig()
	for name, c := range k.raw.Clusters {
		if name == ctx.Cluster {
			said.Clusters[name] = c
		}
	}
	for name, u := range k.raw.AuthInfos {
		if name == ctx.AuthInfo {
			said.AuthInfos[name] = u
		}
	}
	text, err := clientcmd.Write(*said)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig context %q: %w", k.context, err)
	}
	for _, f := range filesOf(rc) {
		data, _ := os.ReadFile(f) // the first request reports the error
		text = append(append(text, 0), data...)
	}
	e.sum = sha256.Sum256(text)
	return e, nil
}

// follow makes the client follow changes to the kubeconfig's context of k from now on.
func (c *Client) follow(k *Kubeconfig) {
	again := k.cfg
	again.Context = k.context // even if the user chooses another one
	c.login.files = filepath.SplitList(k.Files())
	c.login.reread = func() (*entry, error) {
		k, err := Load(again)
		if err != nil {
			return nil, err
		}
		e, err := k.entry()
		if err != nil {
			return nil, err
		}
		tune(e.config, again)
		c.plugin.hear(e.config)
		e.config.Dial = c.conns.dial
		return e, nil
	}
}
