package sessions

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"
)

// validity is longer than any session.
const validity = 5 * 365 * 24 * time.Hour

// Keys are the credentials for a session's API over TCP.
type Keys struct {
	// Token authenticates a client.
	Token string
	// Certificate authenticates the session. It is self-signed; clients get it from the kubeconfig.
	Certificate tls.Certificate
}

// MakeKeys creates the keys for a listener, and writes them to files for their owner: the token, and a kubeconfig for kubectl
// and similar programs.
func (c *Claim) MakeKeys(ctx context.Context, at net.Addr) (Keys, error) {
	host, port, err := reachable(at)
	if err != nil {
		return Keys{}, err
	}
	cert, ca, err := newCertificate(host)
	if err != nil {
		return Keys{}, fmt.Errorf("create a certificate: %w", err)
	}
	k := Keys{Token: rand.Text(), Certificate: cert}
	config, err := kubeconfig("hone-"+c.info.Name, "https://"+net.JoinHostPort(host, strconv.Itoa(port)), ca, k.Token)
	if err != nil {
		return Keys{}, err
	}
	return k, c.registry.locked(ctx, func() error {
		if err := c.replace(extToken, []byte(k.Token+"\n")); err != nil {
			return err
		}
		return c.replace(extKubeconfig, config)
	})
}

// reachable returns the host and the port at which this machine reaches a listener.
func reachable(at net.Addr) (string, int, error) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return "", 0, fmt.Errorf("%s is not a TCP address", at)
	}
	if tcp.IP.IsUnspecified() {
		return "127.0.0.1", tcp.Port, nil
	}
	return tcp.IP.String(), tcp.Port, nil
}

// newCertificate creates a certificate for this machine and one of its addresses, and also returns it in PEM form.
func newCertificate(host string) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "hone session"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsLoopback() {
		template.IPAddresses = append(template.IPAddresses, ip)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// kubeconfig returns a kubeconfig file for one API server.
func kubeconfig(name, server string, ca []byte, token string) ([]byte, error) {
	type object = map[string]any
	b, err := yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{"server": server, "certificate-authority-data": ca}}},
		"users":    []object{{"name": name, "user": object{"token": token}}},
		"contexts": []object{{"name": name, "context": object{"cluster": name, "user": name}}},
	})
	if err != nil {
		return nil, fmt.Errorf("describe the session for kubectl: %w", err)
	}
	return b, nil
}
