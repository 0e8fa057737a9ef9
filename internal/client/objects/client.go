// Package objects finds, reads and watches the objects that a running session serves by the conventions of Kubernetes.
// Objects are selected as on a command line: by kind, by kind and name, by labels, by files. Its subpackages print objects
// (output), describe them (description), wait for conditions (condition) and change them (change).
//
// # Concurrency
//
// The package starts no goroutines. A Client may be used by several goroutines at once.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/discovery"

	"github.com/hone-dev/hone/internal/base/problem"
)

// TiltVersion is the group and version of the kinds that users' scripts know.
const TiltVersion = "tilt.dev/v1alpha1"

// Client accesses the objects of a running session.
type Client struct {
	kinds   []Kind
	dynamic dynamic.Interface
	rest    rest.Interface
	openAPI openapi.Client
}

// Open connects to a session and reads its kinds of objects. The session's warnings are written to warnings.
func Open(ctx context.Context, to *rest.Config, warnings io.Writer) (*Client, error) {
	config := rest.CopyConfig(to)
	config.QPS = -1 // a session on this machine needs no rate limit
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	s := &Client{}
	if s.rest, err = rest.UnversionedRESTClientForConfigAndClient(config, transport); err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	if s.dynamic, err = dynamic.NewForConfigAndClient(config, transport); err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	s.openAPI = openapi.NewClient(s.rest)
	d, err := discovery.New(config, transport)
	if err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	groups, err := d.Groups(ctx)
	if err != nil {
		return nil, Explain(fmt.Errorf("read the kinds of the session: %w", err))
	}
	s.kinds = kindsOf(groups)
	return s, nil
}

// OpenAPI returns the client for the session's descriptions of its kinds.
func (s *Client) OpenAPI() openapi.Client { return s.openAPI }

// Of returns the client for the objects of a kind.
func (s *Client) Of(k Kind) dynamic.ResourceInterface { return s.dynamic.Resource(k.GVR) }

// Raw returns the content at a path of the session's API.
func (s *Client) Raw(ctx context.Context, path string) ([]byte, error) {
	doc, err := answer(ctx, s.rest.Get().RequestURI(path))
	return doc, Explain(err)
}

// DeleteRaw requests the deletion of the object at a path of the session's API.
func (s *Client) DeleteRaw(ctx context.Context, path string) ([]byte, error) {
	doc, err := answer(ctx, s.rest.Delete().RequestURI(path))
	return doc, Explain(err)
}

// Explain reduces an error to the part that the user can act on: a problem, without the request that failed.
func Explain(err error) error {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		return err
	}
	if p, ok := problem.Of(err); ok {
		return p
	}
	return err
}
