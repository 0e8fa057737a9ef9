package k8s

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// IsNotFound reports whether err means that the cluster does not have the object.
func IsNotFound(err error) bool { return apierrors.IsNotFound(err) }

// IsForbidden reports whether err means that the cluster does not allow the request.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) }

// Unreachable is the cause in the problems that Explain returns for errors below HTTP: there is no answer, or it does
// not come from the cluster.
type Unreachable struct{ Cause error }

// Error returns the cause's text.
func (u *Unreachable) Error() string { return u.Cause.Error() }

// Unwrap returns the cause.
func (u *Unreachable) Unwrap() error { return u.Cause }

var _ error = (*Unreachable)(nil)

// IsUnreachable reports whether err means that the cluster did not answer.
func IsUnreachable(err error) bool {
	var u *Unreachable
	return errors.As(err, &u)
}

// Explain turns a connection or authentication error into a problem that names the context and the server and
// suggests a mend. It returns other errors, problems and the end of a context unchanged.
func (c *Client) Explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := problem.Of(err); ok {
		return err
	}
	cluster := c.Cluster()
	where, again := nameOf(cluster), lookAt(cluster)
	var netErr net.Error
	var dnsErr *net.DNSError
	var busy *Busy
	switch {
	case errors.As(err, &busy):
		return problem.Wrap(busy, where+" cannot serve requests now", "It may be starting or overloaded. Check: "+again).See("troubleshooting")
	case apierrors.IsUnauthorized(err):
		return problem.Wrap(err, where+" does not accept your credentials", "Log in to it again, then check: "+again).See("troubleshooting")
	case isTLSError(err):
		return problem.Wrap(&Unreachable{innermost(err)}, where+" cannot be trusted",
			"Its certificate does not match the kubeconfig; the cluster may have been recreated. Fetch its kubeconfig again, then check: "+again)
	case isCredentialPlugin(err):
		return c.plugin.problem(c.plugin.failure(err), where, "failed", again)
	case errors.Is(err, context.DeadlineExceeded) && c.plugin.running() > 0:
		return c.plugin.problem(nil, where, fmt.Sprintf("has not answered for %s", c.plugin.running().Round(time.Second)), again)
	case errors.As(err, &dnsErr), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH),
		errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF),
		errors.As(err, &netErr), errors.Is(err, context.DeadlineExceeded):
		return notAnswering(cluster, innermost(err))
	}
	return err
}

// late is the end of the time for an answer, in words for people.
type late struct{ error }

// Error implements error.
func (late) Error() string { return "no answer in time" }

// Unwrap returns the error as it came.
func (l late) Unwrap() error { return l.error }

func nameOf(c model.Cluster) string { return fmt.Sprintf("cluster %q (%s)", c.Context, c.Server) }
func lookAt(c model.Cluster) string { return "kubectl --context " + c.Context + " get nodes" }

func notAnswering(c model.Cluster, cause error) error {
	if cause == context.DeadlineExceeded { //nolint:errorlint // a wrapped one says more
		cause = late{cause}
	}
	return problem.Wrap(&Unreachable{cause}, nameOf(c)+" does not answer",
		"Start it, or choose another one with --context. Then check: "+lookAt(c)).See("troubleshooting")
}

// Silent returns the problem of a cluster from which nothing has arrived for the given time.
func Silent(c model.Cluster, d time.Duration) error {
	return notAnswering(c, fmt.Errorf("nothing has arrived from it for %d s", int(d.Seconds())))
}

func isTLSError(err error) bool {
	for _, kind := range []any{new(x509.UnknownAuthorityError), new(x509.HostnameError), new(x509.CertificateInvalidError),
		new(*tls.CertificateVerificationError), new(tls.RecordHeaderError)} {
		if errors.As(err, kind) {
			return true
		}
	}
	return false
}

func isCredentialPlugin(err error) bool {
	return strings.Contains(err.Error(), "getting credentials: ")
}

// innermost strips prefixes such as "Get https://…:", which repeat the server and may contain a query.
func innermost(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns
	}
	var wrapped interface {
		error
		Unwrap() error
		Timeout() bool
	}
	if errors.As(err, &wrapped) && wrapped.Unwrap() != nil {
		return wrapped.Unwrap()
	}
	return err
}
