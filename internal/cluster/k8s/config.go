package k8s

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/pkg/model"
)

// Config selects the cluster. The zero value selects the cluster that kubectl would use.
type Config struct {
	// Context is the kubeconfig context; empty takes the current one.
	Context string
	// Namespace overrides the context's namespace.
	Namespace string
	// Kubeconfig is the path of a kubeconfig file, or a list of paths in the form of $KUBECONFIG; empty takes $KUBECONFIG, else
	// ~/.kube/config. The files are never written.
	Kubeconfig string
	// UserAgent is sent with every request; empty means "hone".
	UserAgent string
	// Warn receives the API server's warnings (deprecated versions and the like), each text once. Several goroutines
	// may call it at a time. Nil drops them.
	Warn func(text string)
}

// Kubeconfig is a loaded kubeconfig with one of its contexts chosen. It is immutable.
type Kubeconfig struct {
	cfg     Config
	raw     *clientcmdapi.Config
	rules   *clientcmd.ClientConfigLoadingRules
	context string
}

// Load reads the kubeconfig without touching the network. Without any kubeconfig, or with one that chooses no context,
// it succeeds and Cluster returns the zero value. A context that is missing from the kubeconfig and a file that cannot
// be read are problems.
func Load(cfg Config) (*Kubeconfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if files := filepath.SplitList(cfg.Kubeconfig); len(files) > 1 {
		rules.Precedence = files
	} else {
		rules.ExplicitPath = cfg.Kubeconfig
	}
	rules.MigrationRules = nil // migrating would write a file
	rules.WarnIfAllMissing = false
	raw, err := rules.Load()
	if err != nil {
		return nil, problem.Wrap(err, "cannot read the kubeconfig",
			"Check the file that --kubeconfig, $KUBECONFIG or ~/.kube/config names: kubectl config view")
	}
	k := &Kubeconfig{cfg: cfg, raw: raw, rules: rules, context: cfg.Context}
	if k.context == "" {
		k.context = raw.CurrentContext
	}
	if k.context == "" {
		return k, nil
	}
	if _, ok := raw.Contexts[k.context]; !ok {
		return nil, unknownContext(k.context, raw, "Choose one of them: hone --context NAME, or kubectl config use-context NAME")
	}
	return k, nil
}

// In returns the same kubeconfig with another context chosen, whatever the user chooses from now on, without reading the files
// again. The namespace overrides the one of the context unless it is empty. A context that is missing from the kubeconfig is a problem.
func (k *Kubeconfig) In(context, namespace string) (*Kubeconfig, error) {
	if _, ok := k.raw.Contexts[context]; !ok {
		return nil, unknownContext(context, k.raw, "Name one of them as the context of the cluster, or add it to the kubeconfig.")
	}
	in := *k
	in.context, in.cfg.Context, in.cfg.Namespace = context, context, namespace
	return &in, nil
}

// unknownContext is the problem of a context that the kubeconfig lacks. It lists the known ones, the most similar first; mend is the
// advice where there is one.
func unknownContext(name string, raw *clientcmdapi.Config, mend string) error {
	p := problem.New(fmt.Sprintf("the kubeconfig has no context %q", name), "")
	known := slices.Sorted(maps.Keys(raw.Contexts))
	if near := suggest.Nearest(name, known); near != "" {
		others := slices.DeleteFunc(known, func(c string) bool { return c == near })
		known = slices.Insert(others, 0, near)
	}
	if len(known) == 0 {
		p.Mend = "Point $KUBECONFIG at a kubeconfig file that has it."
		return p
	}
	p.Detail = "known contexts:\n  " + strings.Join(known, "\n  ")
	p.Mend = mend
	return p
}

// Cluster describes the cluster from the kubeconfig alone: context, name, server, namespace and product. It is zero
// when there is no context.
func (k *Kubeconfig) Cluster() model.Cluster {
	ctx, ok := k.raw.Contexts[k.context]
	if !ok {
		return model.Cluster{}
	}
	c := model.Cluster{Context: k.context, Name: ctx.Cluster, Namespace: k.namespace(ctx)}
	var paths []string
	if cl, ok := k.raw.Clusters[ctx.Cluster]; ok {
		c.Server = redactURL(cl.Server)
		paths = []string{cl.LocationOfOrigin, cl.CertificateAuthority}
	}
	c.Product = DetectProduct(k.context, ctx.Cluster, paths...)
	return c
}

func (k *Kubeconfig) namespace(ctx *clientcmdapi.Context) string {
	if k.cfg.Namespace != "" {
		return k.cfg.Namespace
	}
	if ctx.Namespace != "" {
		return ctx.Namespace
	}
	return "default"
}

// Files returns the absolute paths of the kubeconfig's files, as a list in the form of $KUBECONFIG.
func (k *Kubeconfig) Files() string {
	files := slices.Clone(k.rules.GetLoadingPrecedence())
	for i, f := range files {
		if abs, err := filepath.Abs(f); err == nil {
			files[i] = abs
		}
	}
	return strings.Join(files, string(os.PathListSeparator))
}

// Connect returns a client of the chosen cluster. It does not touch the network: use Detect or Healthy to learn whether
// the cluster answers. Without a context, or with credentials that cannot be loaded, it returns a problem.
func (k *Kubeconfig) Connect() (*Client, error) {
	if k.context == "" {
		return nil, problem.New("no Kubernetes context is selected",
			"Create a cluster (for example: kind create cluster), or choose one: kubectl config use-context NAME").See("clusters")
	}
	e, err := k.entry()
	if err != nil {
		return nil, err
	}
	c, err := newClient(e.config, e.cluster, k.cfg)
	if err != nil {
		return nil, err
	}
	c.login.now.Store(&entry{config: c.rest, cluster: e.cluster, sum: e.sum})
	c.follow(k)
	return c, nil
}

// redactURL removes user names and passwords from a URL that goes into messages.
func redactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.User == nil {
		return s
	}
	u.User = nil
	return u.String()
}

// tune sets the options that all clients share: no client-side throttling (the server has its own priority and
// fairness), a recognisable user agent, a callback for warnings, and credential plugins that do not use the terminal.
func tune(rc *rest.Config, cfg Config) {
	rc.QPS = -1
	rc.UserAgent = cfg.UserAgent
	if rc.UserAgent == "" {
		rc.UserAgent = "hone"
	}
	rc.Dial = dialer.DialContext
	rc.WarningHandlerWithContext = newWarnings(cfg.Warn)
	if rc.ExecProvider != nil {
		rc.ExecProvider.StdinUnavailable = true
		rc.ExecProvider.StdinUnavailableMessage = "hone uses the terminal itself; log in before starting it"
	}
}
