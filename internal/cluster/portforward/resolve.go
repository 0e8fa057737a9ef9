package portforward

import (
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// ResolvePort returns the pod's port for a forward: the container port of the forward, else its local port if a
// container of the pod declares it, else the first declared port, else the local port.
func ResolvePort(pf model.PortForward, pod model.Pod) int {
	if pf.ContainerPort != 0 {
		return pf.ContainerPort
	}
	first := 0
	for _, c := range pod.Containers {
		if slices.Contains(c.Ports, pf.LocalPort) {
			return pf.LocalPort
		}
		if first == 0 && len(c.Ports) > 0 {
			first = c.Ports[0]
		}
	}
	if first != 0 {
		return first
	}
	return pf.LocalPort
}
