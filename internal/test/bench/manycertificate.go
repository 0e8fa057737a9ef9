//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/hone-dev/hone/internal/test/harness"
)

var signingRequests = schema.GroupVersionResource{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"}

// servingCertificate lets the cluster sign a certificate for the kubelet of a node, so that the API server trusts it.
func servingCertificate(ctx context.Context, client dynamic.Interface, node, address string) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:     pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + node},
		DNSNames:    []string{node},
		IPAddresses: []net.IP{net.ParseIP(address)},
	}, key)
	if err != nil {
		return nil, err
	}
	issued, err := sign(ctx, client, node, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}))
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(issued, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}, err
}

// sign sends a request, approves it, and returns the certificate.
func sign(ctx context.Context, client dynamic.Interface, name string, request []byte) (issued []byte, err error) {
	requests := client.Resource(signingRequests)
	made, err := requests.Create(ctx, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{"request": base64.StdEncoding.EncodeToString(request), "signerName": "kubernetes.io/kubelet-serving",
			"expirationSeconds": int64(24 * time.Hour / time.Second), "usages": []any{"digital signature", "server auth"}}}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, requests.Delete(context.WithoutCancel(ctx), name, metav1.DeleteOptions{}))
	}()
	made.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "reason": "Bench", "message": "a node of hone's benchmark"}}}
	if _, err := requests.Update(ctx, made, metav1.UpdateOptions{}, "approval"); err != nil {
		return nil, err
	}
	err = harness.Await(ctx, time.Minute, "the certificate", func() error {
		got, err := requests.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		text, _, _ := unstructured.NestedString(got.Object, "status", "certificate")
		if text == "" {
			return errors.New("it is not issued")
		}
		issued, err = base64.StdEncoding.DecodeString(text)
		return err
	})
	return issued, err
}
