package k8s

import (
	"net"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/hone-dev/hone/pkg/model"
)

// ServiceFromCore converts a Service to hone's type; Resource stays empty. nodeHost is the host on which node ports can
// be reached, empty if there is none.
func ServiceFromCore(s *corev1.Service, nodeHost string) model.Service {
	return model.Service{Namespace: s.Namespace, Name: s.Name, UID: string(s.UID), URL: serviceURL(s, nodeHost)}
}

// serviceURL returns the URL of a Service for clients outside its cluster: the address of its load balancer, else a
// node port. It ignores ports that are not TCP.
func serviceURL(s *corev1.Service, nodeHost string) string {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer && s.Spec.Type != corev1.ServiceTypeNodePort {
		return ""
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
			continue
		}
		if host := ingressHost(s); host != "" {
			return hostURL(p, host, p.Port)
		}
		if nodeHost != "" && p.NodePort != 0 {
			return hostURL(p, nodeHost, p.NodePort)
		}
	}
	return ""
}

func ingressHost(s *corev1.Service) string {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return ""
	}
	for _, in := range s.Status.LoadBalancer.Ingress {
		if in.Hostname != "" {
			return in.Hostname
		}
		if in.IP != "" {
			return in.IP
		}
	}
	return ""
}

func hostURL(p *corev1.ServicePort, host string, port int32) string {
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(port))), Path: "/"}
	if p.Name == "https" || p.Port == 443 || ptr.Deref(p.AppProtocol, "") == "https" {
		u.Scheme = "https"
	}
	return u.String()
}
