package k8s

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestServiceURL(t *testing.T) {
	appHTTPS := "https"
	lb := func(in ...corev1.LoadBalancerIngress) corev1.ServiceStatus {
		return corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: in}}
	}
	ports := func(p ...corev1.ServicePort) corev1.ServiceSpec {
		return corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: p}
	}
	nodePort := corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}}}
	tests := []struct {
		name string
		svc  corev1.Service
		node string
		want string
	}{
		{"cluster address", corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Ports: []corev1.ServicePort{{Port: 80}}}}, "n", ""},
		{"node port", corev1.Service{Spec: nodePort}, "10.0.0.1", "http://10.0.0.1:30080/"},
		{"node port on IPv6", corev1.Service{Spec: nodePort}, "fd00::1", "http://[fd00::1]:30080/"},
		{"node out of reach", corev1.Service{Spec: nodePort}, "", ""},
		{"balancer by name", corev1.Service{Spec: ports(corev1.ServicePort{Port: 8080}), Status: lb(corev1.LoadBalancerIngress{Hostname: "localhost"})}, "", "http://localhost:8080/"},
		{"balancer by address", corev1.Service{Spec: ports(corev1.ServicePort{Port: 443}), Status: lb(corev1.LoadBalancerIngress{IP: "1.2.3.4"})}, "", "https://1.2.3.4:443/"},
		{"balancer pending", corev1.Service{Spec: ports(corev1.ServicePort{Port: 80, NodePort: 30001})}, "n", "http://n:30001/"},
		{"https by name", corev1.Service{Spec: ports(corev1.ServicePort{Name: "https", Port: 8443}), Status: lb(corev1.LoadBalancerIngress{IP: "1.2.3.4"})}, "", "https://1.2.3.4:8443/"},
		{"https by protocol", corev1.Service{Spec: ports(corev1.ServicePort{AppProtocol: &appHTTPS, Port: 8443}), Status: lb(corev1.LoadBalancerIngress{IP: "1.2.3.4"})}, "", "https://1.2.3.4:8443/"},
		{"UDP first", corev1.Service{Spec: ports(corev1.ServicePort{Protocol: corev1.ProtocolUDP, Port: 53}, corev1.ServicePort{Port: 80}), Status: lb(corev1.LoadBalancerIngress{IP: "1.2.3.4"})}, "", "http://1.2.3.4:80/"},
	}
	for _, tt := range tests {
		if got := serviceURL(&tt.svc, tt.node); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
