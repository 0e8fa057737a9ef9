package k8s

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/discovery"

	"github.com/hone-dev/hone/pkg/model"
)

// dialer opens the TCP connections to the API server. A server that does not accept a connection within three seconds
// is reported as unreachable. Frequent keep-alive probes make sure that no dead connection outlives the machine's
// sleep.
var dialer = &net.Dialer{
	Timeout:         3 * time.Second,
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
}

// Client talks to one cluster. Make it with Kubeconfig.Connect and end it with Close.
type Client struct {
	rest  *rest.Config // the first way into the cluster; requests are made for its address
	login *login

	http     *http.Client // HTTP/2, shared by all clients below
	upgrades *http.Client // HTTP/1.1, for requests that turn into a stream

	core      coreClient
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.Client
	mapper    *resettingMapper

	plugin  plugin
	conns   *conns
	tunnels *tunnels
	owners  *ownerCache

	// refused is the protocol that the server refused last when it took the other one; empty if there was none.
	refused atomic.Value

	life       context.Context // of the requests that no caller waits for; Close ends it
	end        context.CancelFunc
	background sync.WaitGroup // of these requests
	lifeMu     sync.Mutex
	apart      []*http.Client // guarded by lifeMu; what Apart has returned

	nodeMu   sync.Mutex
	nodeHost string // guarded by nodeMu; host name under which node ports can be reached
	nodeDone bool   // guarded by nodeMu; nodeHost is known
}

func newClient(rc *rest.Config, cluster model.Cluster, cfg Config) (*Client, error) {
	tune(rc, cfg)
	c := &Client{rest: rc, login: &login{first: rc}, owners: newOwnerCache(), conns: &conns{dialContext: rc.Dial, heard: newHeard()}}
	c.life, c.end = context.WithCancel(context.Background())
	c.plugin.hear(rc)
	rc.Dial = c.conns.dial
	c.login.now.Store(&entry{config: rc, cluster: cluster})
	var err error
	if c.http, err = c.login.clientFor(c.pinged); err != nil {
		return nil, fmt.Errorf("set up the connection to cluster %q: %w", cluster.Context, err)
	}
	if c.upgrades, err = c.login.clientFor(upgradable); err != nil {
		return nil, fmt.Errorf("set up the connection to cluster %q: %w", cluster.Context, err)
	}
	if err := c.makeClients(); err != nil {
		return nil, fmt.Errorf("set up the clients of cluster %q: %w", cluster.Context, err)
	}
	c.tunnels = newTunnels(c.dialTunnel)
	return c, nil
}

func (c *Client) makeClients() error {
	var err error
	if c.core, err = newCoreClient(c.rest, c.http); err != nil {
		return err
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(c.rest, c.http); err != nil {
		return err
	}
	if c.metadata, err = metadata.NewForConfigAndClient(c.rest, c.http); err != nil {
		return err
	}
	if c.discovery, err = discovery.New(c.rest, c.http); err != nil {
		return err
	}
	c.mapper = newResettingMapper(c.life, c.discovery)
	return nil
}

// pinged makes the transport for requests, whose HTTP/2 connections are pinged.
func (c *Client) pinged(config *rest.Config) (http.RoundTripper, error) {
	config.Dial = c.conns.dialPinged
	t, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return CountingTransport(listen(t, c.conns.heard)), nil
}

// upgradable makes the transport for requests that turn into a stream.
func upgradable(config *rest.Config) (http.RoundTripper, error) {
	config.NextProtos = []string{"http/1.1"}
	return rest.TransportFor(config)
}

// Apart returns an HTTP client for very many requests, with connections of its own, which are not pinged. Only as many requests are on
// their way as the API server serves well; the others wait. adapt changes its configuration.
func (c *Client) Apart(adapt func(*rest.Config)) (*http.Client, error) {
	hc, err := c.login.clientFor(func(config *rest.Config) (http.RoundTripper, error) {
		adapt(config)
		t, err := rest.TransportFor(config)
		if err != nil {
			return nil, err
		}
		return newCrowd(CountingTransport(t)), nil
	})
	if err != nil {
		return nil, err
	}
	c.lifeMu.Lock()
	defer c.lifeMu.Unlock()
	c.apart = append(c.apart, hc)
	return hc, nil
}

// Cluster describes the cluster from the kubeconfig alone, without a request to it. Its address may change.
func (c *Client) Cluster() model.Cluster { return c.login.now.Load().cluster }

// Dynamic returns a client for objects of any kind.
func (c *Client) Dynamic() dynamic.Interface { return c.dynamic }

// Metadata returns a client for the metadata of objects of any kind.
func (c *Client) Metadata() metadata.Interface { return c.metadata }

// Mapper translates kinds to resources. It caches the discovery documents. When it is asked for an unknown kind it
// reads them again, at most once a second, so that a CustomResourceDefinition counts as soon as it is served.
func (c *Client) Mapper() meta.ResettableRESTMapper { return c.mapper }

// RESTConfig returns a copy of the configuration that the client uses. Clients made from it should use HTTPClient or
// Apart: client-go never frees the transport that it makes for each dialer, and the others do not follow the kubeconfig.
func (c *Client) RESTConfig() *rest.Config { return rest.CopyConfig(c.rest) }

// HTTPClient returns the HTTP client that all requests of the client share.
func (c *Client) HTTPClient() *http.Client { return c.http }

// Close ends the pod connections and waits for their goroutines, then closes every connection to the server. Calls that
// are still running fail.
func (c *Client) Close() error {
	c.lifeMu.Lock()
	c.end()
	c.lifeMu.Unlock()
	c.tunnels.close()
	utilnet.CloseIdleConnectionsFor(c.http.Transport)
	utilnet.CloseIdleConnectionsFor(c.upgrades.Transport)
	c.conns.close()
	c.plugin.close()
	c.background.Wait()
	return nil
}

// podURL returns the URL of a subresource of a pod.
func (c *Client) podURL(namespace, pod, subresource string) *url.URL {
	return c.core.rest.Get().Resource("pods").Namespace(namespace).Name(pod).SubResource(subresource).URL()
}

// namespace returns ns, or the session's namespace where ns is empty.
func (c *Client) namespace(ns string) string {
	if ns == "" {
		return c.Cluster().Namespace
	}
	return ns
}

var _ Interface = (*Client)(nil)
