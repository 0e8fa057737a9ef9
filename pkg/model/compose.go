package model

import (
	"fmt"
	"strings"
)

// TargetCompose is the type of target for a service that Docker Compose runs.
const TargetCompose TargetType = "compose"

// ComposeTarget is the part of a resource that Docker Compose runs: one service of a project. Compose reads the service's own
// configuration from the Compose files. ComposeTarget holds only the parts that hone acts on, and a hash to detect changes.
type ComposeTarget struct {
	Project ComposeProject
	// Service is the name of the service in the project. The resource may have a different name.
	Service string
	// Image is the reference of the image that the service's containers run: the value of image:, else "<project>-<service>",
	// the name that Compose gives to an image that it builds.
	Image string
	// ImageTarget is the reference of the image in the manifest's Images that replaces Image: once built, it must be tagged
	// as Image. Empty where Compose builds or pulls the image.
	ImageTarget string
	// Build is the build that Compose does for the image; nil where the image is pulled, or built by hone.
	Build *ComposeBuild
	// Entrypoint and Command are those that the service sets for its containers; nil for the image's own.
	Entrypoint []string
	Command    []string
	// Ports are the ports that the service publishes on this machine.
	Ports []ComposePort
	// Watch is the files of Build, except those that the service's containers mount.
	Watch WatchSpec
	// Hash is a digest of everything that defines the service, after the substitution of variables and files: its
	// configuration, the networks, volumes, configs and secrets that it uses, and its Dockerfile where Compose builds it. A
	// change of target that keeps the hash requires no update.
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
	// EnvFiles are the absolute paths of the files that define variables (--env-file); empty means the .env in Dir.
	EnvFiles []string
	// Profiles are all active profiles (--profile): COMPOSE_PROFILES in the environment must not add others.
	Profiles []string
	// Wait waits until services are running or healthy (up --wait).
	Wait bool
	// Env is the changes that the Tiltfile made to the environment, which Compose must also see: "K=V", or "K" alone for a
	// variable that it unset.
	Env []string
}

// ComposeFile is one file of a project: a file on disk, or text that the Tiltfile generated.
type ComposeFile struct {
	// Path is the file's absolute path; empty for text.
	Path string
	// Content is the text; unused for a file on disk. Callers that run Compose must write it to a file. It may contain
	// passwords.
	Content string
	// Source names the origin of the text, for messages.
	Source string
}

// ComposeBuild is the build that Compose does for an image.
type ComposeBuild struct {
	// Context is the absolute path of the build context, or the address of a remote context.
	Context string
	// Remote is set where Context is an address.
	Remote bool
	// Dockerfile is the absolute path; empty where the Compose file holds the text, or the context is remote.
	Dockerfile string
	// Contexts are the absolute paths of additional folders that the Dockerfile refers to by name, sorted.
	Contexts []string
	// Target is the stage to build; empty for the last one.
	Target string
	// Inline is the text of the Dockerfile where the Compose file holds it.
	Inline string
	// Args are the build arguments, as in DockerBuild.
	Args map[string]*string
	// Options is a digest of the other settings.
	Options string
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
	// Name is the port's name in the Compose file, and AppProtocol its application protocol, such as "https". Both may be
	// empty.
	Name        string
	AppProtocol string
}

// URL returns the address of the port for a browser; empty for a port that is not TCP or whose port on this machine is not
// known.
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

// The labels that Compose gives to its containers.
const (
	ComposeProjectLabel = "com.docker.compose.project"
	ComposeServiceLabel = "com.docker.compose.service"
	// ComposeOneOffLabel is "True" for the containers of "docker compose run", which are not part of the service.
	ComposeOneOffLabel = "com.docker.compose.oneoff"
)

// Supervised reports whether the resource's containers should run their process under the synclet because live updates
// restart it. This is the case for containers of Compose whose image has restart_container().
func (m Manifest) Supervised() bool {
	if m.Compose == nil {
		return false
	}
	im, ok := m.Image(m.Compose.ImageTarget)
	return ok && im.LiveUpdate.RestartContainer
}

// Builds reports whether the resource has images that hone or Compose builds.
func (m Manifest) Builds() bool {
	return len(m.Images) > 0 || m.Compose != nil && m.Compose.Build != nil
}

// IsCompose reports whether Docker Compose runs the resource.
func (m Manifest) IsCompose() bool { return m.Compose != nil }
