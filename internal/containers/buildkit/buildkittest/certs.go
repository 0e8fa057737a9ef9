package buildkittest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// ServerName is the only name in the daemon's certificate.
const ServerName = "builder.test"

// Certs are the files that a client of the daemon needs.
type Certs struct{ CA, Cert, Key string }

// newCerts writes an authority, and certificates for the daemon and for its client.
func newCerts(dir string) (Certs, error) {
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hone test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caKey, err := signed(dir, "ca", ca, ca, nil)
	if err != nil {
		return Certs{}, err
	}
	for name, use := range map[string]x509.ExtKeyUsage{"server": x509.ExtKeyUsageServerAuth, "client": x509.ExtKeyUsageClientAuth} {
		c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use}, DNSNames: []string{ServerName}}
		if _, err := signed(dir, name, c, ca, caKey); err != nil {
			return Certs{}, err
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	return Certs{CA: at("ca.pem"), Cert: at("client.pem"), Key: at("client-key.pem")}, nil
}

// signed writes a certificate and its key to NAME.pem and NAME-key.pem. Without the key of the authority, the certificate signs itself.
func signed(dir, name string, cert, by *x509.Certificate, with *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if with == nil {
		with = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, by, &key.PublicKey, with)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
	}
	return key, nil
}
