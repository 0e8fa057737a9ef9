package k8s

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestExplain(t *testing.T) {
	c := known(model.Cluster{Context: "shop", Server: "https://1.2.3.4:6443"})
	get := func(err error) error { return &url.Error{Op: "Get", URL: "https://1.2.3.4/?token=secret", Err: err} }
	tests := []struct {
		name        string
		err         error
		summary     string
		unreachable bool
	}{
		{"refused", get(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}), "does not answer", true},
		{"no such host", get(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}), "does not answer", true},
		{"too slow", get(context.DeadlineExceeded), "does not answer", true},
		{"cut off", get(io.EOF), "does not answer", true},
		{"other certificate", get(x509.UnknownAuthorityError{}), "cannot be trusted", true},
		{"not logged in", apierrors.NewUnauthorized("no"), "does not accept your credentials", false},
		{"credential plugin", get(errors.New("getting credentials: exec: \"aws\": not found")), "credential plugin", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := c.Explain(fmt.Errorf("list: %w", tt.err))
			p, ok := problem.Of(err)
			if !ok || !strings.Contains(p.Summary, tt.summary) || !strings.Contains(p.Summary, `"shop" (https://1.2.3.4:6443)`) ||
				p.Mend == "" || IsUnreachable(err) != tt.unreachable {
				t.Errorf("got %v", err)
			}
			if tt.unreachable && strings.Contains(err.Error(), "secret") {
				t.Errorf("the query shows: %v", err)
			}
		})
	}
	notFound := apierrors.NewNotFound(corev1.Resource("pods"), "p")
	for _, err := range []error{nil, context.Canceled, notFound, errors.New("other")} {
		if got := c.Explain(err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if _, ok := problem.Of(c.Explain(err)); ok {
			t.Errorf("%v became a problem", err)
		}
	}
}
