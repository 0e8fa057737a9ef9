package model

import (
	"fmt"
	"strings"
)

// TargetCompose is the target of a service that Docker Compose runs.
const TargetCompose TargetType = "compose"

// ComposeTarget is the part of a resource that Docker Compose runs: one service of a project. The service's own
// configuration stays in the Compose files, for Compose to read; what is kept of it here is what hone acts on, and a
// hash that tells whether it changed.
type ComposeTarget struct {
	Project ComposeProject
	// Service is the service's name in the project. The resource may have another one.
	Service string
	// Image is the reference that the service's containers run: what image: says, else the name that Compose gives to
	// what it builds, "<project>-<service>".
	Image string
	// ImageTarget is the reference of the image among the manifest's Images that takes the place of what Image names: once
	// it is built it must be tagged as Image. Empty where Compose builds or pulls the image.
	ImageTarget string
	// Build is what Compose builds the image from; nil where the image is pulled, or built by hone.
	Build *ComposeBuild
	// Entrypoint and Command are what the service says its containers run; nil where it leaves that to the image.
	Entrypoint []string
	Command    []string
	// Ports are the ports that the service publishes on this machine.
	Ports []ComposePort
	// Watch are the files of Build, without what containers of the service mount.
	Watch WatchSpec
	// Hash is a digest of all that makes the service what it is, with every variable and file put in: its configuration,
	// the networks, volumes, configs and secrets that it uses, and its Dockerfile where Compose builds it. Two targets with
	// the same hash need no update to get from one to the other.
	Hash string
}

// ComposeProject is a set of Compose files that are read as one. The fields are the arguments of Compose's command line.
type ComposeProject struct {
	// Name is the project's name (--project-name), never empty.
	Name string
	// Dir is the absolute path of the folder that relative paths start from (--project-directory).
	Dir string
	// Files are the Compose files in the order in which they are merged (--file).
	Files []ComposeFile
	// EnvFiles are the absolute paths of the files that give variables (--env-file); none means the .env in Dir.
	EnvFiles []string
	// Profiles are the active profiles (--profile). They are meant to be all of them, so that COMPOSE_PROFILES in the
	// environment must not add others.
	Profiles []string
	// Wait waits until services are running or healthy (up --wait).
	Wait bool
	// Env is what the Tiltfile changed in the environment, which Compose must see too: "K=V", or "K" alone for a variable
	// that it took away.
	Env []string
}

// ComposeFile is one file of a project: a file on disk, or text that the Tiltfile made.
type ComposeFile struct {
	// Path is the file's absolute path; empty for text.
	Path string
	// Content is the text, which whoever runs Compose has to write to a file; unused for a file on disk. It may hold
	// passwords.
	Content string
	// Source says where the text comes from, for messages.
	Source string
}

// ComposeBuild says what Compose builds an image from.
type ComposeBuild struct {
	// Context is the absolute path of a folder, or the address of a remote context.
	Context string
	// Remote is set where Context is an address.
	Remote bool
	// Dockerfile is the absolute path; empty where the Compose file holds the text, or the context is remote.
	Dockerfile string
	// Contexts are the absolute paths of further folders that the Dockerfile refers to by name, sorted.
	Contexts []string
	// Target is the stage to build; empty for the last one.
	Target string
}

// ComposePort is a port of a container that is published on this machine.
type ComposePort struct {
	// HostIP is the address that the port is bound to; empty for all.
	HostIP string
	// Published is the port on this machine; 0 where the engine chooses one.
	Published int
	// Target is the port in the container.
	Target int
	// Protocol is "tcp" or "udp".
	Protocol string
	// Name is what the Compose file calls the port; AppProtocol what it says is spoken there, such as "https". Both may be
	// empty.
	Name        string
	AppProtocol string
}

// URL is where a browser finds the port; empty where it is none of TCP, or not known on this machine.
func (p ComposePort) URL() string {
	if p.Published == 0 || p.Protocol != "tcp" {
		return ""
	}
	scheme, host := "http", "localhost"
	if p.AppProtocol == "https" {
		scheme = "https"
	}
	switch p.HostIP {
	case "", "0.0.0.0", "::", "127.0.0.1", "::1":
	default:
		if host = p.HostIP; strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
	}
	return fmt.Sprintf("%s://%s:%d/", scheme, host, p.Published)
}

// Labels that Compose gives to its containers.
const (
	ComposeProjectLabel = "com.docker.compose.project"
	ComposeServiceLabel = "com.docker.compose.service"
	// ComposeOneOffLabel is "True" for the containers of "docker compose run", which are none of the service's.
	ComposeOneOffLabel = "com.docker.compose.oneoff"
)

// Supervised reports whether containers of the resource are to run their process under the synclet, because live updates
// restart it: they are Compose's, and the image that they run has restart_container().
func (m Manifest) Supervised() bool {
	if m.Compose == nil {
		return false
	}
	im, ok := m.Image(m.Compose.ImageTarget)
	return ok && im.LiveUpdate.RestartContainer
}

// IsCompose reports whether Docker Compose runs the resource.
func (m Manifest) IsCompose() bool { return m.Compose != nil }
