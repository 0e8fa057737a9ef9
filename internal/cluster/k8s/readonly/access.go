package readonly

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/api"
)

const (
	// label marks the objects of an Access with its name.
	label = "hone.dev/read-only"
	// role is a role that every cluster has: it reads everything but Secrets and roles.
	role = "view"
)

// The kinds of objects that an Access creates.
var (
	accounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	bindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

// Client is the connection to a cluster.
type Client interface {
	Dynamic() dynamic.Interface
	RESTConfig() *rest.Config
}

// Access is the read access to a cluster that a session gives to other programs.
type Access struct {
	client Client
	dir    string

	mu sync.Mutex
	// note lists the created objects; nil before the first one. unlock releases its lock. Both are guarded by mu.
	note   *note
	unlock func()
}

// New returns an Access that has created nothing. Its note is in the folder dir, which may be absent.
func New(client Client, dir string) *Access { return &Access{client: client, dir: dir} }

// Kubeconfig returns a kubeconfig that reads some namespaces, for a time that the cluster may shorten. The ServiceAccount is in the first
// namespace.
func (a *Access) Kubeconfig(ctx context.Context, namespaces []string, lasting time.Duration) (out api.Kubeconfig, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.beginLocked(namespaces[0]); err != nil {
		return out, err
	}
	account := object{Resource: accounts.Resource, Namespace: a.note.Namespace}
	if err := a.createLocked(ctx, account, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}); err != nil {
		return out, err
	}
	for _, ns := range namespaces {
		if err := a.createLocked(ctx, object{Resource: bindings.Resource, Namespace: ns}, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": bindings.GroupVersion().String(), "kind": "RoleBinding",
			"roleRef":  map[string]any{"apiGroup": bindings.Group, "kind": "ClusterRole", "name": role},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": a.note.Name, "namespace": a.note.Namespace}},
		}}); err != nil {
			return out, err
		}
	}
	token, expires, err := a.tokenLocked(ctx, lasting)
	if err != nil {
		return out, err
	}
	doc, err := a.documentLocked(token, namespaces[0])
	return api.Kubeconfig{Kubeconfig: doc, Namespaces: namespaces, ExpiresAt: expires}, err
}

// beginLocked writes the note that objects are about to be created.
func (a *Access) beginLocked(namespace string) (err error) {
	if a.note != nil {
		return nil
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return fmt.Errorf("note what is about to be created: %w", err)
	}
	n := note{Name: "hone-read-only-" + strings.ToLower(rand.Text()[:8]), Namespace: namespace, Server: a.client.RESTConfig().Host}
	unlock, free, err := filelock.Try(n.lock(a.dir))
	if err != nil || !free {
		return errors.Join(err, fmt.Errorf("lock the note about %s", n.Name))
	}
	if err := n.write(a.dir); err != nil {
		unlock()
		return err
	}
	a.note, a.unlock = &n, unlock
	return nil
}

// createLocked creates an object, unless the Access has done so already.
func (a *Access) createLocked(ctx context.Context, o object, u *unstructured.Unstructured) error {
	at := slices.IndexFunc(a.note.Objects, o.same)
	if at < 0 {
		at = len(a.note.Objects)
		a.note.Objects = append(a.note.Objects, o)
		if err := a.note.write(a.dir); err != nil {
			a.note.Objects = a.note.Objects[:at]
			return err
		}
	}
	u.SetName(a.note.Name)
	u.SetLabels(map[string]string{label: a.note.Name})
	made, err := o.client(a.client).Create(ctx, u, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err) && a.note.Objects[at].UID != "":
		return nil
	case apierrors.IsForbidden(err):
		return problem.Wrap(err, fmt.Sprintf("your account may not give read access to namespace %s", o.Namespace),
			"let someone who may do that allow you to create ServiceAccounts, and RoleBindings to the role view")
	case err != nil:
		return fmt.Errorf("create %s %s in namespace %s: %w", o.Resource, a.note.Name, o.Namespace, err)
	}
	a.note.Objects[at].UID = string(made.GetUID())
	return a.note.write(a.dir)
}

// tokenLocked returns a token for the ServiceAccount.
func (a *Access) tokenLocked(ctx context.Context, lasting time.Duration) (token string, expires time.Time, err error) {
	req := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"spec": map[string]any{"expirationSeconds": int64(lasting.Seconds())}}}
	req.SetName(a.note.Name)
	is, err := object{Resource: accounts.Resource, Namespace: a.note.Namespace}.client(a.client).Create(ctx, req, metav1.CreateOptions{}, "token")
	if err != nil {
		return "", expires, fmt.Errorf("request a token for ServiceAccount %s/%s: %w", a.note.Namespace, a.note.Name, err)
	}
	token, _, _ = unstructured.NestedString(is.Object, "status", "token")
	end, _, _ := unstructured.NestedString(is.Object, "status", "expirationTimestamp")
	if expires, err = time.Parse(time.RFC3339, end); err != nil || token == "" {
		return "", expires, fmt.Errorf("request a token for ServiceAccount %s/%s: the cluster returns none", a.note.Namespace, a.note.Name)
	}
	return token, expires, nil
}

// documentLocked returns a kubeconfig with a token.
func (a *Access) documentLocked(token, namespace string) (string, error) {
	rc := a.client.RESTConfig()
	cluster := map[string]any{"server": rc.Host}
	ca := rc.CAData
	if len(ca) == 0 && rc.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(rc.CAFile); err != nil {
			return "", fmt.Errorf("read the certificate authority of the cluster: %w", err)
		}
	}
	if len(ca) > 0 {
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString(ca)
	}
	if rc.ServerName != "" {
		cluster["tls-server-name"] = rc.ServerName
	}
	if rc.Insecure {
		cluster["insecure-skip-tls-verify"] = true
	}
	if proxy := proxyOf(rc); proxy != "" {
		cluster["proxy-url"] = proxy
	}
	name := a.note.Name
	doc, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": cluster}},
		"users":    []any{map[string]any{"name": name, "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name, "namespace": namespace}}}})
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig: %w", err)
	}
	return string(doc), nil
}

// proxyOf returns the proxy that the kubeconfig names for a cluster.
func proxyOf(rc *rest.Config) string {
	at, err := url.Parse(rc.Host)
	if rc.Proxy == nil || err != nil {
		return ""
	}
	proxy, err := rc.Proxy(&http.Request{URL: at})
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.String()
}

// Remove deletes everything that the Access has created. Afterwards it can create objects again.
func (a *Access) Remove(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.note == nil {
		return nil
	}
	if err := a.note.remove(ctx, a.client, a.dir); err != nil {
		return err
	}
	a.unlock()
	_ = os.Remove(a.note.lock(a.dir))
	a.note = nil
	return nil
}

// Sweep deletes the objects of sessions that were killed in a cluster. A note of another cluster stays for a session there.
func Sweep(ctx context.Context, client Client, dir string) error {
	entries, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil || len(entries) == 0 {
		return err
	}
	var errs []error
	for _, path := range entries {
		n, err := read(path)
		if err != nil || n.Server != client.RESTConfig().Host {
			errs = append(errs, err)
			continue
		}
		unlock, free, err := filelock.Try(n.lock(dir))
		if err != nil || !free {
			errs = append(errs, err)
			continue
		}
		if err = n.remove(ctx, client, dir); err == nil {
			err = os.Remove(n.lock(dir))
		}
		unlock()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
