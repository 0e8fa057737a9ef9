package view

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// cause is why a pod does not run, in the words of a person.
type cause struct {
	// title names the failure in a few words; empty leaves that to the status.
	title string
	// word is the title in one word; empty leaves that to the status.
	word string
	// detail is the text of a row after the title; empty for nothing.
	detail string
	// text explains the failure.
	text string
	// root identifies the thing to mend: pods that fail because of the same thing have the same root. It is empty if only the pod
	// itself is known.
	root string
	// said is the message of Kubernetes, where it contains more than text.
	said string
	// help is the mend; empty if none is known.
	help string
}

// brief returns title and detail.
func (c cause) brief() string {
	if c.detail == "" {
		return c.title
	}
	return c.title + ": " + c.detail
}

// containerCause returns why a container of a pod has failed.
func containerCause(pod state.Pod, c model.Container, events []state.KubeEvent) cause {
	reason, message := c.Reason, c.Message
	if c.State == model.ContainerWaiting && reason == "CrashLoopBackOff" && c.LastReason != "" {
		reason, message = c.LastReason, c.LastMessage
	}
	what := "container " + c.Name
	if c.Init && !c.Sidecar {
		what = "init container " + c.Name
	}
	switch reason {
	case "ErrImagePull", "ImagePullBackOff":
		return pullCause(pod, c, events)
	case "ErrImageNeverPull":
		return cause{text: "the image " + c.Image + " is not on the node, and imagePullPolicy is Never", root: "image " + c.Image,
			help: "load the image into the node, or set imagePullPolicy to IfNotPresent"}
	case "InvalidImageName":
		return cause{text: fmt.Sprintf("%q is not the name of an image", c.Image), root: "image " + c.Image, help: "correct the image's name in the object"}
	case "CreateContainerConfigError":
		return configCause(pod, what, message)
	case "CreateContainerError", "RunContainerError", "StartError", "ContainerCannotRun":
		return startCause(what, message)
	case "OOMKilled":
		return memoryCause(what, c)
	}
	return exitCause(pod, what, c)
}

// memoryCause is the cause for a container that used more memory than it may.
func memoryCause(what string, c model.Container) cause {
	said := what + " used more memory than its limit"
	if c.MemoryLimit != "" {
		said += " of " + c.MemoryLimit
	}
	return cause{title: "out of memory", word: "memory", text: said + ", and was killed" + ran(c), help: "raise resources.limits.memory, or use less"}
}

// exitCause is the cause for a container whose program has ended.
func exitCause(pod state.Pod, what string, c model.Container) cause {
	code := cmp.Or(c.ExitCode, c.LastExitCode)
	if code == 0 {
		return cause{text: what + " ended with code 0" + ran(c) + ", but it is meant to keep running" + pause(c)}
	}
	text := fmt.Sprintf("%s exited with code %d", what, code)
	if meaning := exits[code]; meaning != "" {
		text += " (" + meaning + ")"
	}
	for _, f := range pod.Unhealthy {
		if f.Container != c.Name || f.Kind == model.ProbeReadiness || f.Restarts+1 < c.Restarts {
			continue // it did not end this run
		}
		if probe, has := c.Probe(f.Kind); has {
			return cause{title: "its " + string(f.Kind) + " probe fails", text: fmt.Sprintf("Kubernetes ended %s, because its %s failed: %s", what, probe, firstLine(f.Answer)) + pause(c),
				help: probeHelp(f.Answer)}
		}
	}
	return cause{text: text + ran(c) + pause(c)}
}

// ran says how long the last run of a container lasted: ", 3 s after its start".
func ran(c model.Container) string {
	from, to := c.LastStartedAt, c.LastFinishedAt
	if c.State == model.ContainerTerminated {
		from, to = c.StartedAt, c.FinishedAt
	}
	if from.Unix() <= 0 || !to.After(from) { // the cluster has whole seconds
		return ""
	}
	return ", " + Elapsed(to.Sub(from)) + " after its start"
}

var backOff = regexp.MustCompile(`back-off (\w+) restarting`)

// pause says how long Kubernetes waits before it starts a container again.
func pause(c model.Container) string {
	if m := backOff.FindStringSubmatch(c.Message); m != nil {
		if d, err := time.ParseDuration(m[1]); err == nil {
			return "; Kubernetes waits " + Elapsed(d) + " between starts"
		}
	}
	return ""
}

// pullCause is the cause for a container whose image cannot be pulled to the node. Kubernetes reports the reason and the back-off
// in turns, but an event keeps the reason.
func pullCause(pod state.Pod, c model.Container, events []state.KubeEvent) cause {
	said := c.Message
	if c.Reason == "ImagePullBackOff" && !strings.Contains(said, ": ") {
		for _, e := range events {
			if e.ObjectUID == pod.UID && strings.HasPrefix(e.Message, "Failed to pull image") && strings.Contains(e.Message, c.Image) {
				said = e.Message
				break
			}
		}
	}
	out := cause{title: "image cannot be pulled", root: "image " + c.Image, said: said}
	low := strings.ToLower(said)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("no match for platform"):
		out.text, out.help = "the image "+c.Image+" does not exist for the node's processor", "build or choose an image for the processor of the node"
	case has("pull access denied", "insufficient_scope", "unauthorized", "authentication required", "403 forbidden"):
		out.text, out.help = "the registry denies access to the image "+c.Image, "check the image's name; if it is private, the pod needs an imagePullSecret that may read it"
	case has("manifest unknown", "not found", "does not exist"):
		out.text, out.help = "the image "+c.Image+" does not exist in its registry", "check the image's name and tag, or push it"
	case has("x509", "certificate"):
		out.text, out.help = "the node does not trust the certificate of the registry of "+c.Image, "make the node trust the registry's certificate"
	case has("server gave http response to https client"):
		out.text, out.help = "the registry of "+c.Image+" speaks HTTP, and the node wants HTTPS", "make the node trust the registry as an insecure one"
	case has("no such host", "connection refused", "timeout", "no route to host", "network is unreachable", "connection reset", "eof"):
		out.text, out.help = "the node cannot reach the registry of the image "+c.Image, "check the registry's name in the image, and the network of the node"
	case has("toomanyrequests", "rate limit"):
		out.text, out.help = "the registry of the image "+c.Image+" limits how often the node may pull", "log in at the registry, or use a mirror"
	default:
		out.text, out.help = "the image "+c.Image+" cannot be pulled", "check the image's name and tag, and whether the node can reach the registry"
	}
	return out
}

var (
	missing    = regexp.MustCompile(`(?i)\b(configmap|secret|persistentvolumeclaim) "([^"]+)" not found`)
	missingKey = regexp.MustCompile(`couldn't find key (\S+) in (ConfigMap|Secret) (?:([^/\s]+)/)?(\S+)`)
	oldKey     = regexp.MustCompile(`references non-existent (secret|config) key: (\S+)`)
	kinds4     = map[string]string{"configmap": "ConfigMap", "secret": "Secret", "persistentvolumeclaim": "PersistentVolumeClaim"}
)

// missingObject finds in a message of Kubernetes the object that another one refers to and that does not exist: "the Secret
// keys".
func missingObject(namespace, who, message string) (c cause, found bool) {
	if m := missing.FindStringSubmatch(message); m != nil {
		what := kinds4[strings.ToLower(m[1])] + " " + m[2]
		return cause{title: what + " is missing", text: who + " needs the " + what + ", which does not exist in namespace " + namespace,
			root: what + " in " + namespace, help: "create the " + what + ", or correct its name in the object"}, true
	}
	if m := missingKey.FindStringSubmatch(message); m != nil {
		what := m[2] + " " + m[4]
		return cause{title: "a key of " + what + " is missing", text: fmt.Sprintf("%s needs the key %s of the %s, which has no such key", who, m[1], what),
			root: what + " in " + namespace, help: "add the key " + m[1] + " to the " + what + ", or correct its name in the object"}, true
	}
	if m := oldKey.FindStringSubmatch(message); m != nil {
		return cause{text: who + " needs the key " + m[2] + ", which its " + m[1] + " does not have", said: message, help: "add the key, or correct its name in the object"}, true
	}
	return cause{}, false
}

// configCause is the cause for a container that Kubernetes cannot configure.
func configCause(pod state.Pod, what, message string) cause {
	if c, found := missingObject(pod.Namespace, what, message); found {
		return c
	}
	if strings.Contains(message, "runAsNonRoot") {
		return cause{text: what + " must not run as root, and its image does", said: message, help: "set USER to a number in the Dockerfile, or runAsUser in securityContext"}
	}
	return cause{text: "the configuration of " + what + " is wrong: " + firstLine(message)}
}

var execOf = regexp.MustCompile(`exec: "([^"]+)"`)

// startCause is the cause for a container that the container runtime cannot start.
func startCause(what, message string) cause {
	out := cause{said: message}
	command := "the command"
	if m := execOf.FindStringSubmatch(message); m != nil {
		command = "the command " + m[1]
	}
	switch {
	case strings.Contains(message, "exec format error"):
		out.text, out.help = command+" of "+what+" was built for another processor than the node's", "build the image for the processor of the node"
	case strings.Contains(message, "executable file not found"), execOf.MatchString(message) && strings.Contains(message, "no such file or directory"):
		out.title, out.text, out.help = "its command does not exist", command+" of "+what+" does not exist in its image", "correct the command of the container, or the image"
	case execOf.MatchString(message) && strings.Contains(message, "permission denied"):
		out.text, out.help = command+" of "+what+" may not be executed", "make it executable in the image: chmod +x"
	case strings.Contains(message, "not a directory") && strings.Contains(message, "mount"):
		out.text, out.help = what+" mounts a folder where its image has a file, or a file where it has a folder", "correct mountPath, or use subPath"
	case strings.Contains(message, "read-only file system"):
		out.text, out.help = what+" needs to write where its file system is read-only", "mount a volume there, or leave out readOnlyRootFilesystem"
	case message == "":
		out.text, out.said = what+" cannot be started", ""
	default:
		out.text, out.said = what+" cannot be started: "+lastPart(message), message
	}
	return out
}

// lastPart returns the end of a chain of messages, which has the cause.
func lastPart(message string) string {
	parts := strings.Split(strings.TrimSuffix(firstLine(message), ": unknown"), ": ")
	return strings.Join(parts[max(0, len(parts)-2):], ": ")
}

// The times after which a pod that is not ready counts as stuck. The scheduler and the kubelet soon have everything that they
// need if a node or an object is only new; a program may take longer.
const (
	stuckPatience = 5 * time.Second
	probePatience = 30 * time.Second
)

// stuck explains why a pod that has not failed will hardly become ready by itself; the last result is false if it may still do so.
func (b *builder) stuck(pod state.Pod, events []state.KubeEvent) (c cause, since time.Time, is bool) {
	done := pod.Ready || pod.Phase == "Succeeded"
	if done || pod.OfCompose() || !b.lasts(pod.CreatedAt, stuckPatience) {
		return cause{}, time.Time{}, false
	}
	if state.WaitsForNode(pod) && pod.Message != "" && pod.Status == "Pending" {
		return placeCause(pod, events), pod.CreatedAt, true
	}
	if pod.Phase == "Pending" {
		c, is := mountCause(pod, events)
		return c, pod.CreatedAt, is
	}
	for _, c := range pod.LastingContainers() {
		if c.State != model.ContainerRunning || c.Ready {
			continue
		}
		for _, kind := range []model.ProbeKind{model.ProbeStartup, model.ProbeReadiness} {
			probe, has := c.Probe(kind)
			from, patience, runs, goes := c.StartedAt, probePatience, "runs", "has not succeeded yet"
			if !pod.UnreadySince.IsZero() {
				from, patience, runs, goes = pod.UnreadySince, stuckPatience, "was ready", "fails"
			}
			passed := c.Started && kind == model.ProbeStartup
			if !has || passed || !b.lasts(from, patience) {
				continue
			}
			answer := ""
			for _, f := range pod.Unhealthy {
				if f.Container == c.Name && f.Kind == kind && f.Restarts == c.Restarts {
					answer = firstLine(f.Answer)
					goes = "fails: " + answer
				}
			}
			text := fmt.Sprintf("container %s %s, but its %s %s", c.Name, runs, probe, goes)
			return cause{title: "its " + string(kind) + " probe fails", detail: answer, text: text, help: probeHelp(answer)}, from, true
		}
	}
	return cause{}, time.Time{}, false
}

// lasts reports whether something has lasted for some time.
func (b *builder) lasts(since time.Time, d time.Duration) bool {
	left := d - b.now.Sub(since)
	if left > 0 {
		b.changesIn(left)
	}
	return left <= 0
}

// probeHelp returns the mend for an answer to a probe; empty if none is known.
func probeHelp(answer string) string {
	switch {
	case strings.Contains(answer, "connection refused"):
		return "nothing listens there in the container: check the port, and that the program listens on all addresses, not on localhost only"
	case strings.Contains(answer, "statuscode: 404"):
		return "the program has no such path: check the path of the probe"
	case strings.Contains(answer, "deadline exceeded"), strings.Contains(answer, "timed out"):
		return "the program answers too slowly: raise timeoutSeconds of the probe, or make the answer cheap"
	}
	return ""
}

// mountCause finds in the events of a pod why its volumes cannot be mounted, or why it gets no network.
func mountCause(pod state.Pod, events []state.KubeEvent) (cause, bool) {
	for _, e := range events { // the newest first
		if e.ObjectUID != pod.UID || !e.Warning || e.LastSeen.Before(pod.CreatedAt) {
			continue
		}
		switch e.Reason {
		case "FailedMount", "FailedAttachVolume":
			if strings.Contains(e.Message, "failed to sync") { // of the kubelet's caches, which ends by itself
				continue
			}
			if c, found := missingObject(pod.Namespace, "a volume of the pod", e.Message); found {
				return c, true
			}
			return cause{title: "its volumes cannot be mounted", text: "a volume of the pod cannot be mounted: " + lastPart(e.Message), said: e.Message}, true
		case "FailedCreatePodSandBox":
			return cause{title: "its pod cannot be set up", text: "the node cannot set up the pod: " + lastPart(e.Message), said: e.Message}, true
		}
	}
	return cause{}, false
}

var (
	available    = regexp.MustCompile(`^\d+/(\d+) nodes are available: `)
	insufficient = regexp.MustCompile(`^(\d+) Insufficient (\S+)$`)
	tainted      = regexp.MustCompile(`^(\d+) node\(s\) had untolerated taint\(?s?\)? ?\{([^}]*)\}$`)
)

// unbound says which PersistentVolumeClaim of a resource has no volume, and why, as far as its events tell.
func unbound(events []state.KubeEvent) string {
	for _, e := range events { // the newest first
		if e.Warning && e.Object.Kind == "PersistentVolumeClaim" {
			return "the PersistentVolumeClaim " + e.Object.Name + " has no volume: " + e.Message
		}
	}
	return "a PersistentVolumeClaim of the pod has no volume yet"
}

// placeCause is the cause for a pod that no node takes, from the words of the scheduler.
func placeCause(pod state.Pod, events []state.KubeEvent) cause {
	out := cause{title: "no node takes its pod", said: pod.Message}
	head, _, _ := strings.Cut(pod.Message, " preemption: ")
	head, _, _ = strings.Cut(head, " no new claims to deallocate")
	head = strings.TrimRight(head, "., ")
	m := available.FindStringSubmatch(head)
	if m == nil {
		out.text = "no node takes the pod: " + firstLine(head)
		return out
	}
	var why []string
	for _, part := range strings.Split(strings.TrimPrefix(head, m[0]), ", ") {
		part = strings.TrimRight(part, ".")
		switch {
		case insufficient.MatchString(part):
			f := insufficient.FindStringSubmatch(part)
			why = append(why, nodes(f[1])+" not enough "+f[2]+" left")
			out.help = "ask for less in resources.requests, or make room on a node"
		case tainted.MatchString(part):
			f := tainted.FindStringSubmatch(part)
			why = append(why, nodes(f[1])+" the taint "+strings.TrimSuffix(f[2], ": ")+", which the pod does not tolerate")
		case strings.Contains(part, "didn't match Pod's node affinity/selector"):
			n, _, _ := strings.Cut(part, " ")
			why = append(why, nodes(n)+" not the labels that nodeSelector or affinity ask for")
			out.help = cmp.Or(out.help, "correct nodeSelector or affinity, or label a node")
		case strings.Contains(part, "unbound immediate PersistentVolumeClaims"):
			why = append(why, unbound(events))
			out.help = cmp.Or(out.help, "check the claim's StorageClass")
		default:
			why = append(why, part)
		}
	}
	out.detail = text.Clean(strings.Join(why, "; "))
	out.text = "no node takes the pod: " + out.detail
	out.root = out.text
	return out
}

// nodes names a number of nodes with a verb, for a list of their properties: "1 node has".
func nodes(n string) string {
	if n == "1" {
		return "1 node has"
	}
	return n + " nodes have"
}

// refusedCause is the cause for a workload whose pods Kubernetes refuses to create.
func refusedCause(err string) (c cause, is bool) {
	_, why, is := strings.Cut(err, "its pods cannot be created: ")
	if !is {
		return cause{}, false
	}
	why = firstLine(why)
	c = cause{title: "its pods are refused", text: "its pods cannot be created: " + why}
	switch {
	case strings.Contains(why, "exceeded quota: "):
		_, rest, _ := strings.Cut(why, "exceeded quota: ")
		quota, amounts, _ := strings.Cut(rest, ", ")
		c.text = "the ResourceQuota " + quota + " has no room for its pods: " + amounts
		c.root = "quota " + quota
		c.help = "raise the ResourceQuota " + quota + ", ask for less in resources, or delete what uses it up"
	case strings.Contains(why, "failed quota: "):
		_, rest, _ := strings.Cut(why, "failed quota: ")
		quota, _, _ := strings.Cut(rest, ":")
		c.text, c.said = "the ResourceQuota "+quota+" wants resources for every container: "+strings.TrimPrefix(rest, quota+": "), ""
		c.help = "set resources.requests and limits for every container"
	case strings.Contains(why, "violates PodSecurity"):
		c.help = "the namespace allows only safer pods: set what the message asks for in securityContext, or lower the namespace's level"
	case strings.Contains(why, "usage per Container is"), strings.Contains(why, "usage per Pod is"):
		c.help = "the LimitRange of the namespace bounds resources: ask for an amount within it"
	case strings.Contains(why, "serviceaccount "):
		c.help = "create the service account, or correct serviceAccountName"
	}
	return c, true
}

// where names a pod, and its container if it has several. The blanks do not break, so that a name stays beside its kind.
func where(pod state.Pod, container string) string {
	out := "pod\u00a0" + pod.Name
	if container != "" && len(pod.AllContainers()) > 1 {
		out += ", container\u00a0" + container
	}
	return out
}
