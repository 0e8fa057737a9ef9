package docker

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/buildkit/session/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// TestCredentials asks for credentials as BuildKit does, over gRPC.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	encoded := base64.StdEncoding.EncodeToString([]byte("me:secret"))
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q},"registry.example:5000":{"identitytoken":"token"}},"credHelpers":{"broken.example":"hone-missing"}}`,
		hubKey, encoded)
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	server := grpc.NewServer()
	newUserConfig(dir).sessionAuth().Register(server)
	go func() { _ = server.Serve(&single{conn: there, closed: make(chan struct{})}) }()
	defer server.Stop()
	conn, err := grpc.NewClient("passthrough:pipe", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return here, nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := auth.NewAuthClient(conn)
	for _, tt := range []struct{ host, user, secret string }{
		{hubHost, "me", "secret"},
		{"registry.example:5000", "", "token"},
		{"unknown.example", "", ""},
	} {
		got, err := client.Credentials(t.Context(), &auth.CredentialsRequest{Host: tt.host})
		if err != nil || got.Username != tt.user || got.Secret != tt.secret {
			t.Errorf("%s: %v, %v", tt.host, got, err)
		}
	}
	if got, err := client.Credentials(t.Context(), &auth.CredentialsRequest{Host: "broken.example"}); err == nil {
		t.Errorf("a credential helper that is missing: %v", got)
	}
}

// single is a listener with one connection.
type single struct {
	conn   net.Conn
	closed chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	if conn := l.conn; conn != nil {
		l.conn = nil
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *single) Close() error   { close(l.closed); return nil }
func (l *single) Addr() net.Addr { return &net.UnixAddr{} }
