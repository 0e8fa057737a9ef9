package harness

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/test/proxy"
)

// Gateway opens a gateway to the API server, with faults by the given random numbers, and writes a kubeconfig file whose contexts lead to
// it. The caller closes it.
func (c *Cluster) Gateway(kubeconfig string, random *rand.Rand) (*proxy.Gateway, error) {
	up, raw, err := c.upstream()
	if err != nil {
		return nil, err
	}
	g, err := proxy.NewGateway(up, random)
	if err != nil {
		return nil, err
	}
	config, err := redirected(raw, g.Wire.Address(), g.CA)
	if err == nil {
		err = os.WriteFile(kubeconfig, config, 0o600)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// upstream returns the API server of a cluster, and the kubeconfig that names it.
func (c *Cluster) upstream() (up proxy.Upstream, kubeconfig []byte, err error) {
	rc := c.Client.RESTConfig()
	if up.URL, err = url.Parse(rc.Host); err != nil {
		return up, nil, fmt.Errorf("the API server's address: %w", err)
	}
	read := func(data []byte, file string) []byte {
		if len(data) == 0 && file != "" {
			var e error
			data, e = os.ReadFile(file)
			err = errors.Join(err, e)
		}
		return data
	}
	up.Token = rc.BearerToken
	up.TLS = &tls.Config{ServerName: rc.ServerName, InsecureSkipVerify: rc.Insecure, RootCAs: x509.NewCertPool()}
	up.TLS.RootCAs.AppendCertsFromPEM(read(rc.CAData, rc.CAFile))
	cert, key := read(rc.CertData, rc.CertFile), read(rc.KeyData, rc.KeyFile)
	if len(cert) > 0 {
		pair, e := tls.X509KeyPair(cert, key)
		err = errors.Join(err, e)
		up.TLS.Certificates = []tls.Certificate{pair}
	}
	if err != nil {
		return up, nil, fmt.Errorf("read what the kubeconfig names: %w", err)
	}
	if kubeconfig, err = os.ReadFile(cmp.Or(c.Kubeconfig, os.Getenv("KUBECONFIG"))); err != nil {
		return up, nil, fmt.Errorf("a gateway needs KUBECONFIG: %w", err)
	}
	return up, kubeconfig, nil
}

// redirected returns a kubeconfig whose clusters have another address, without credentials.
func redirected(raw []byte, address string, ca []byte) ([]byte, error) {
	var config map[string]any
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	each := func(list, field string, change func(map[string]any)) {
		all, _ := config[list].([]any)
		for _, one := range all {
			entry, _ := one.(map[string]any)
			if inner, ok := entry[field].(map[string]any); ok {
				change(inner)
			}
		}
	}
	each("clusters", "cluster", func(c map[string]any) {
		clear(c)
		c["server"] = "https://" + address
		c["certificate-authority-data"] = base64.StdEncoding.EncodeToString(ca)
	})
	each("users", "user", func(u map[string]any) { clear(u) })
	return yaml.Marshal(config)
}
