// Package containerd puts images into the containerd of a Kubernetes node through its socket, with no registry, no
// command-line tool and no containerd client library.
package containerd
