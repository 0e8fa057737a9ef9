package k8s

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/hone-dev/hone/pkg/model"
)

const (
	// answerTimeout bounds the wait for the first answer of a cluster.
	answerTimeout = 5 * time.Second
	// detectTimeout bounds the wait for the other answers after that one.
	detectTimeout = 10 * time.Second
	// maxNodes bounds the number of nodes that are listed. The reported number of nodes is exact regardless.
	maxNodes = 100
)

// Detect queries the cluster's version, nodes, architecture, container runtime and the registry that it offers. Fields
// that the user has no permission to read stay empty. Detect returns a problem if the cluster does not answer within
// about five seconds, cannot be trusted or does not accept the credentials. If the cluster answers but is busy, AsBusy
// returns the reason from the error.
func (c *Client) Detect(ctx context.Context) (model.Cluster, error) {
	out := c.Cluster()
	ctx = AtOnce(ctx)
	c.ahead()
	all, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	var nodes *corev1.NodeList
	var offered, microk8s model.Registry
	var uid *string
	var g errgroup.Group
	g.Go(func() (err error) { uid, err = c.core.identity(all); return })
	g.Go(func() (err error) { nodes, err = c.listNodes(all); return })
	g.Go(func() (err error) { offered, err = c.offeredRegistry(all); return })
	g.Go(func() (err error) {
		if out.Product == model.ProductMicroK8s {
			microk8s, err = c.microK8sRegistry(all)
		}
		return
	})
	v, err := c.version(ctx)
	if err != nil {
		cancel(err)
		_ = g.Wait() // the version says why best
		err = c.Explain(contextError(ctx, err))
		c.plugin.giveUp()
		return out, fmt.Errorf("detect cluster: %w", err)
	}
	out.Version = v
	defer time.AfterFunc(detectTimeout, func() { cancel(context.DeadlineExceeded) }).Stop()
	if err := g.Wait(); err != nil {
		if all.Err() != nil {
			err = context.Cause(all)
		}
		return out, fmt.Errorf("detect cluster: %w", c.Explain(err))
	}
	c.login.uid.Store(uid)
	describeNodes(&out, nodes)
	c.setNodeHost(nodeHost(out.Product, nodes.Items))
	for _, r := range []model.Registry{offered, microk8s, annotatedRegistry(nodes.Items)} {
		if !r.Empty() {
			out.Registry = r
			break
		}
	}
	return out, nil
}

// DetectPatiently is Detect with the retries of Patiently while the cluster is busy or drops the connection. A cluster
// that cannot be reached is a problem at once.
func (c *Client) DetectPatiently(ctx context.Context, tell func(Wait)) (out model.Cluster, err error) {
	var unreached error
	err = Persist(Patiently(ctx, tell), func() (err error) {
		out, err = c.Detect(ctx)
		if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
			unreached = err
			return nil
		}
		return err
	})
	if err == nil {
		err = unreached
	}
	return out, err
}

// ahead begins what follows in any session, so that over a line of 50 ms its first deploy need not wait for it, one after the other: the
// list of kinds, and the connections of the clients that Apart has returned. It does not wait. An error is found again by those who need
// the answer.
func (c *Client) ahead() {
	c.lifeMu.Lock()
	defer c.lifeMu.Unlock()
	if c.life.Err() != nil {
		return
	}
	c.background.Go(func() { _, _ = c.mapper.mapper() })
	for _, hc := range c.apart {
		c.background.Go(func() { c.open(hc) })
	}
}

// open makes a client open a connection, with a request that needs no permission.
func (c *Client) open(hc *http.Client) {
	req, err := http.NewRequestWithContext(c.life, http.MethodGet, c.core.rest.Get().AbsPath("/version").URL().String(), http.NoBody)
	if err != nil {
		return
	}
	resp, err := hc.Do(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// Identity returns the UID of the namespace kube-system, as Detect has found it. It is empty before that, and if the cluster does not
// reveal it.
func (c *Client) Identity() string {
	if uid := c.login.uid.Load(); uid != nil {
		return *uid
	}
	return ""
}

// version requests the server's version, which needs no permission.
func (c *Client) version(ctx context.Context) (string, error) {
	ctx, cancel := c.plugin.timeout(ctx, answerTimeout)
	defer cancel()
	raw, err := c.core.rest.Get().AbsPath("/version").SetHeader("Accept", "application/json").Do(quiet(ctx)).Raw()
	switch {
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	}
	return parseVersion(raw)
}

// listNodes lists up to maxNodes nodes; RemainingItemCount counts the rest. Without permission the list is empty.
func (c *Client) listNodes(ctx context.Context) (*corev1.NodeList, error) {
	list, err := c.core.nodes().List(ctx, metav1.ListOptions{Limit: maxNodes})
	if apierrors.IsForbidden(err) {
		return &corev1.NodeList{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list, nil
}

func describeNodes(out *model.Cluster, nodes *corev1.NodeList) {
	out.Nodes = len(nodes.Items)
	if nodes.RemainingItemCount != nil {
		out.Nodes += int(*nodes.RemainingItemCount)
	}
	if len(nodes.Items) == 0 {
		return
	}
	first := nodes.Items[0]
	out.Arch = first.Labels[corev1.LabelArchStable]
	if out.Arch == "" {
		out.Arch = first.Status.NodeInfo.Architecture
	}
	out.Runtime, _, _ = strings.Cut(first.Status.NodeInfo.ContainerRuntimeVersion, "://")
}

// Healthy returns nil when the API server reports that it is ready. If the server does not reveal its readiness,
// Healthy checks whether it is alive. A "forbidden" answer counts as alive.
func (c *Client) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(AtOnce(ctx), answerTimeout)
	defer cancel()
	err := c.probe(ctx, "/readyz")
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		err = c.probe(ctx, "/livez")
	}
	if err == nil || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("check health: %w", c.Explain(err))
}

func (c *Client) probe(ctx context.Context, path string) error {
	// No retries by client-go: a server that answers "try again later" is not ready now.
	return c.core.rest.Get().AbsPath(path).MaxRetries(0).Do(quiet(ctx)).Error()
}

// nodeHost is the host name or address under which node ports are reached from this machine, empty if there is none.
func nodeHost(p model.Product, nodes []corev1.Node) string {
	switch p {
	case model.ProductDockerDesktop, model.ProductRancherDesktop, model.ProductOrbstack, model.ProductColima:
		return "localhost"
	default: // the nodes have addresses of their own
	}
	want := corev1.NodeExternalIP
	if p.Dev() {
		want = corev1.NodeInternalIP
	}
	for _, n := range nodes {
		for _, a := range n.Status.Addresses {
			if a.Type == want && net.ParseIP(a.Address) != nil {
				return a.Address
			}
		}
	}
	return ""
}

func (c *Client) setNodeHost(host string) {
	c.nodeMu.Lock()
	defer c.nodeMu.Unlock()
	c.nodeHost, c.nodeDone = host, true
}

// nodePortHost returns the host for node ports. The first call asks the cluster. After an error the result is empty and
// the next call asks again.
func (c *Client) nodePortHost(ctx context.Context) string {
	c.nodeMu.Lock()
	host, done := c.nodeHost, c.nodeDone
	c.nodeMu.Unlock()
	if done {
		return host
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	nodes, err := c.listNodes(quiet(ctx))
	if err != nil {
		return ""
	}
	host = nodeHost(c.Cluster().Product, nodes.Items)
	c.setNodeHost(host)
	return host
}

// MinVersion is the oldest server that hone supports; server-side apply and the rest are stable from there on.
const MinVersion = "v1.25.0"

// TooOld reports whether a server version is below MinVersion. A version that cannot be read is not.
func TooOld(serverVersion string) bool {
	v, err := version.ParseGeneric(serverVersion)
	return err == nil && v.LessThan(version.MustParseGeneric(MinVersion))
}
