package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// dnsTTL is what CoreDNS has by default. It also bounds how long a "no such name" is believed.
	dnsTTL = 5
	// serviceZone is below what the kubelet writes into every pod's resolv.conf.
	serviceZone = ".svc.cluster.local."
	clusterZone = "cluster.local."
	// maxRecords fit into a packet next to the longest question: with its name compressed a record takes 16 bytes.
	maxRecords = 14
)

// newDNSCommand is the cluster's DNS: names of Services, and everything else from the machine's own servers.
//
// CoreDNS would do this too, at the price of a second copy of client-go to compile. A developer's cluster needs little of
// it: addresses of Services and of the pods behind headless ones. There are no SRV and PTR records.
func newDNSCommand() *cobra.Command {
	var listen, health, kubeconfig, upstreams string
	command := &cobra.Command{
		Use:          "dns",
		Short:        "answer names of Services, pass on all others",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			return serveDNS(command.Context(), listen, health, kubeconfig, upstreams)
		},
	}
	command.Flags().StringVar(&listen, "listen", "127.0.0.1:53", "`address` to answer on, UDP and TCP")
	command.Flags().StringVar(&health, "health", "127.0.0.1:10254", "`address` of an HTTP health check")
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "`file` that names the cluster")
	command.Flags().StringVar(&upstreams, "resolv-conf", "/etc/resolv.conf", "`file` with the servers for all other names")
	return command
}

func serveDNS(ctx context.Context, listen, health, kubeconfig, upstreams string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	server := &dnsServer{
		services:  factory.Core().V1().Services().Lister(),
		slices:    factory.Discovery().V1().EndpointSlices().Lister(),
		upstreams: upstreams,
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("list %v: %w", kind, context.Cause(ctx))
		}
	}

	packets, err := net.ListenPacket("udp", listen)
	if err != nil {
		return err
	}
	connections, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	failed := make(chan error, 3)
	go func() { failed <- server.servePackets(packets) }()
	go func() { failed <- server.serveConnections(connections) }()
	go func() {
		failed <- http.ListenAndServe(health, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}()
	return <-failed
}

type dnsServer struct {
	services  corelisters.ServiceLister
	slices    discoverylisters.EndpointSliceLister
	upstreams string
}

func (s *dnsServer) servePackets(packets net.PacketConn) error {
	for {
		query := make([]byte, 4096)
		n, from, err := packets.ReadFrom(query)
		if err != nil {
			return err
		}
		go func() {
			if answer := s.answer(query[:n], "udp"); answer != nil {
				packets.WriteTo(answer, from)
			}
		}()
	}
}

func (s *dnsServer) serveConnections(connections net.Listener) error {
	for {
		connection, err := connections.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer connection.Close()
			for {
				connection.SetDeadline(time.Now().Add(10 * time.Second))
				query, err := readFramed(connection)
				if err != nil {
					return
				}
				answer := s.answer(query, "tcp")
				if answer == nil || writeFramed(connection, answer) != nil {
					return
				}
			}
		}()
	}
}

// answer returns nil for what is no query at all.
func (s *dnsServer) answer(query []byte, network string) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil || header.Response {
		return nil
	}
	question, err := parser.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(question.Name.String())
	var message []byte
	if name == clusterZone || strings.HasSuffix(name, "."+clusterZone) {
		message, err = s.local(header, question, name, network)
	} else {
		message, err = s.forward(query, network)
	}
	if err != nil {
		log.Printf("%s %s: %v", question.Type, name, err)
		header.Truncated = false
		message, _ = reply(header, question, dnsmessage.RCodeServerFailure, nil)
	}
	return message
}

// local answers for the cluster's zone.
func (s *dnsServer) local(header dnsmessage.Header, question dnsmessage.Question, name, network string) ([]byte, error) {
	addresses, alias, found := s.lookup(name)
	if !found {
		return reply(header, question, dnsmessage.RCodeNameError, nil)
	}
	resource := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: dnsTTL}
	var records []dnsmessage.Resource
	if alias != "" {
		target, err := dnsmessage.NewName(strings.TrimSuffix(alias, ".") + ".")
		if err != nil {
			return nil, err
		}
		resource.Type = dnsmessage.TypeCNAME
		records = append(records, dnsmessage.Resource{Header: resource, Body: &dnsmessage.CNAMEResource{CNAME: target}})
		// The resolver of a container does not follow aliases; it relies on its server for that.
		resource.Name = target
		addresses = s.resolve(target, question.Type)
	}
	for _, address := range addresses {
		switch {
		case address.Is4() && question.Type == dnsmessage.TypeA:
			resource.Type = dnsmessage.TypeA
			records = append(records, dnsmessage.Resource{Header: resource, Body: &dnsmessage.AResource{A: address.As4()}})
		case address.Is6() && question.Type == dnsmessage.TypeAAAA:
			resource.Type = dnsmessage.TypeAAAA
			records = append(records, dnsmessage.Resource{Header: resource, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	// A packet holds 512 bytes, unless the asker said more; who wants all of them asks again over TCP.
	if header.Truncated = network == "udp" && len(records) > maxRecords; header.Truncated {
		records = records[:maxRecords]
	}
	return reply(header, question, dnsmessage.RCodeSuccess, records)
}

// lookup knows SERVICE.NAMESPACE.svc, and POD.SERVICE.NAMESPACE.svc for pods with a host name (those of a StatefulSet).
func (s *dnsServer) lookup(name string) (addresses []netip.Addr, alias string, found bool) {
	path, ok := strings.CutSuffix(name, serviceZone)
	if !ok {
		return nil, "", false
	}
	parts := strings.Split(path, ".")
	var host string
	if len(parts) == 3 {
		host, parts = parts[0], parts[1:]
	}
	if len(parts) != 2 {
		return nil, "", false
	}
	service, err := s.services.Services(parts[1]).Get(parts[0])
	switch {
	case err != nil:
		return nil, "", false
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return nil, service.Spec.ExternalName, host == ""
	case service.Spec.ClusterIP != corev1.ClusterIPNone && host == "":
		return parse(service.Spec.ClusterIPs), "", true
	}
	addresses = s.endpoints(service, host)
	// A headless Service without ready pods is a name without addresses, not a missing name.
	return addresses, "", host == "" || len(addresses) > 0
}

func (s *dnsServer) endpoints(service *corev1.Service, host string) []netip.Addr {
	selector := labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name})
	slices, err := s.slices.EndpointSlices(service.Namespace).List(selector)
	if err != nil {
		return nil
	}
	var addresses []netip.Addr
	for _, slice := range slices {
		for _, endpoint := range slice.Endpoints {
			if host != "" && (endpoint.Hostname == nil || *endpoint.Hostname != host) {
				continue
			}
			// Slices of a Service with publishNotReadyAddresses say that all are ready.
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				addresses = append(addresses, parse(endpoint.Addresses)...)
			}
		}
	}
	return addresses
}

func parse(texts []string) []netip.Addr {
	var addresses []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

func reply(query dnsmessage.Header, question dnsmessage.Question, code dnsmessage.RCode, answers []dnsmessage.Resource) ([]byte, error) {
	message := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: query.ID, Response: true, Authoritative: true, Truncated: query.Truncated,
			RecursionDesired: query.RecursionDesired, RecursionAvailable: true, RCode: code,
		},
		Questions: []dnsmessage.Question{question},
		Answers:   answers,
	}
	if len(answers) == 0 && code != dnsmessage.RCodeServerFailure {
		zone := dnsmessage.MustNewName(clusterZone)
		message.Authorities = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: zone, Type: dnsmessage.TypeSOA, Class: dnsmessage.ClassINET, TTL: dnsTTL},
			Body: &dnsmessage.SOAResource{
				NS: dnsmessage.MustNewName("ns.dns." + clusterZone), MBox: dnsmessage.MustNewName("hostmaster." + clusterZone),
				Serial: 1, Refresh: 7200, Retry: 1800, Expire: 86400, MinTTL: dnsTTL,
			},
		}}
	}
	return message.Pack()
}

// forward asks the machine's servers, in their order. They are read every time: a laptop changes networks.
func (s *dnsServer) forward(query []byte, network string) ([]byte, error) {
	text, err := os.ReadFile(s.upstreams)
	if err != nil {
		return nil, err
	}
	err = errors.New("no server for names outside the cluster")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		var answer []byte
		if answer, err = exchange(query, network, net.JoinHostPort(fields[1], "53")); err == nil {
			return answer, nil
		}
	}
	return nil, err
}

// resolve asks for the addresses behind a name outside the cluster. None is a possible answer.
func (s *dnsServer) resolve(name dnsmessage.Name, kind dnsmessage.Type) []netip.Addr {
	query := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 1, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := query.Pack()
	if err != nil {
		return nil
	}
	answer, err := s.forward(packed, "udp")
	if err != nil {
		return nil
	}
	var message dnsmessage.Message
	if message.Unpack(answer) != nil {
		return nil
	}
	var addresses []netip.Addr
	for _, record := range message.Answers {
		switch body := record.Body.(type) {
		case *dnsmessage.AResource:
			addresses = append(addresses, netip.AddrFrom4(body.A))
		case *dnsmessage.AAAAResource:
			addresses = append(addresses, netip.AddrFrom16(body.AAAA))
		}
	}
	return addresses
}

func exchange(query []byte, network, server string) ([]byte, error) {
	connection, err := net.DialTimeout(network, server, 2*time.Second)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(2 * time.Second))
	if network == "tcp" {
		if err := writeFramed(connection, query); err != nil {
			return nil, err
		}
		return readFramed(connection)
	}
	if _, err := connection.Write(query); err != nil {
		return nil, err
	}
	answer := make([]byte, 65535)
	n, err := connection.Read(answer)
	return answer[:n], err
}

// Over TCP each message has its length in front.
func readFramed(from io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(from, message)
	return message, err
}

func writeFramed(to io.Writer, message []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...))
	return err
}
