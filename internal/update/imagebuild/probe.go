package imagebuild

import (
	"context"
	"net"
	"os"
	"time"

	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
)

// sockets are the paths where containerd listens: its default, k3s's and microk8s's.
var sockets = []string{
	"/run/containerd/containerd.sock",
	"/run/k3s/containerd/containerd.sock",
	"/var/snap/microk8s/common/run/containerd.sock",
}

// probeTime bounds the probe of one socket.
const probeTime = time.Second

// Probe examines this machine: its addresses, its containerd, its environment. It takes a few milliseconds.
func Probe(ctx context.Context) Delivery {
	d := Delivery{ActiveMinikube: os.Getenv("MINIKUBE_ACTIVE_DOCKERD")}
	if name, err := os.Hostname(); err == nil {
		d.Addresses = append(d.Addresses, name)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		addrs = nil // without them only loopback addresses count as this machine
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			d.Addresses = append(d.Addresses, ip.IP.String())
		}
	}
	for _, socket := range sockets {
		if runsPods(ctx, socket) {
			d.ContainerdSocket = socket
			break
		}
	}
	return d
}

// runsPods reports whether a containerd with pods answers at the socket. The engine's own containerd has none.
func runsPods(ctx context.Context, socket string) bool {
	if _, err := os.Stat(socket); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	c, err := containerd.Dial(socket)
	if err != nil {
		return false
	}
	defer c.Close()
	ok, err := c.RunsPods(ctx)
	return err == nil && ok
}
