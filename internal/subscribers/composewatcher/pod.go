package composewatcher

import (
	"fmt"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// remember keeps the end of the container's last run: once it runs again the engine no longer reports it.
func remember(now *model.Container, was model.Container) {
	switch {
	case now.State != model.ContainerRunning:
	case was.State != model.ContainerRunning && (was.ExitCode != 0 || was.Reason == "OOMKilled"):
		now.LastReason, now.LastExitCode = was.Reason, was.ExitCode
		if was.Reason == model.ContainerRestarting {
			now.LastReason = "Error"
		}
	case was.State == model.ContainerRunning:
		now.LastReason, now.LastExitCode = was.LastReason, was.LastExitCode
	}
}

// podOf describes a container as a pod.
func podOf(resource model.ManifestName, c docker.ContainerState) model.Pod {
	ct := model.Container{Name: c.Labels[model.ComposeServiceLabel], ID: c.ID, Runtime: "docker", Image: c.Image, ImageID: c.ImageID, ExitCode: c.ExitCode,
		StartedAt: c.StartedAt, FinishedAt: c.FinishedAt, Restarts: c.Restarts, Message: c.Err}
	if len(c.Entrypoint) > 0 && c.Entrypoint[0] == protocol.Path {
		ct.SyncletPath = protocol.Path
	}
	// The template's hash is the container's id: a deploy identifies its own containers by it.
	p := model.Pod{Name: c.Name, UID: c.ID, Resource: resource, CreatedAt: c.CreatedAt, TemplateHash: c.ID, Message: c.Err,
		Engine: c.Status, Health: c.Health}
	for _, port := range c.Ports {
		ct.Ports = append(ct.Ports, port.Port)
		p.Published = append(p.Published, model.ComposePort{HostIP: port.HostIP, Published: port.HostPort, Target: port.Port, Protocol: port.Protocol})
	}
	switch c.Status {
	case "running":
		p.Phase, ct.State = "Running", model.ContainerRunning
		p.Ready = c.Health == "" || c.Health == "healthy"
		p.Status = "Running"
		if !p.Ready {
			p.Status, p.Message = c.Health, c.HealthLog
		}
	case "paused":
		p.Phase, p.Status, p.Ready, ct.State = "Running", "paused", true, model.ContainerRunning
	case "restarting":
		p.Phase, ct.State, ct.Reason = "Running", model.ContainerWaiting, model.ContainerRestarting
		p.Status = fmt.Sprintf("restarting (exit code %d)", c.ExitCode)
	case "exited", "dead":
		ct.State, ct.Reason = model.ContainerTerminated, "Error"
		p.Phase, p.Status = "Failed", fmt.Sprintf("exited with code %d", c.ExitCode)
		switch {
		case c.OOMKilled:
			ct.Reason, p.Status = "OOMKilled", "OOMKilled"
		case c.ExitCode == 0 && c.Err == "":
			ct.Reason, p.Phase, p.Status = "Completed", "Succeeded", "Completed"
		}
	case "removing":
		p.Phase, p.Status, p.Deleting, ct.State = "Running", "removing", true, model.ContainerTerminated
	default:
		p.Phase, p.Status, ct.State = "Pending", c.Status, model.ContainerWaiting
		if c.Err != "" {
			p.Phase = "Failed" // the engine has tried to start it
		}
	}
	ct.Ready = p.Ready
	p.Containers = []model.Container{ct}
	return p
}
