package docker

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
)

// labelFilters selects containers with all of the labels.
func labelFilters(labels map[string]string) filters.Args {
	args := filters.NewArgs()
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if v := labels[k]; v != "" {
			k += "=" + v
		}
		args.Add("label", k)
	}
	return args
}

// ContainerStates implements Client.
func (e *Engine) ContainerStates(ctx context.Context, labels map[string]string) ([]ContainerState, error) {
	if err := e.agree(ctx); err != nil {
		return nil, e.wrap("list containers", err)
	}
	list, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: labelFilters(labels)})
	if err != nil {
		return nil, e.wrap("list containers", err)
	}
	out := make([]ContainerState, 0, len(list))
	for _, c := range list {
		full, err := e.api.ContainerInspect(ctx, c.ID)
		if IsNotFound(err) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, e.wrap("inspect container "+short(c.ID), err)
		}
		out = append(out, stateOf(full))
	}
	return out, nil
}

func stateOf(c container.InspectResponse) ContainerState {
	out := ContainerState{ID: c.ID, Name: strings.TrimPrefix(c.Name, "/"), ImageID: c.ContainerJSONBase.Image, Restarts: c.RestartCount,
		CreatedAt: instant(c.Created), Entrypoint: []string{}}
	if c.Config != nil {
		out.Image, out.Labels, out.Entrypoint = c.Config.Image, c.Config.Labels, c.Config.Entrypoint
	}
	if s := c.State; s != nil {
		out.Status, out.ExitCode, out.OOMKilled, out.Err = s.Status, s.ExitCode, s.OOMKilled, s.Error
		out.StartedAt, out.FinishedAt = instant(s.StartedAt), instant(s.FinishedAt)
		if s.Health != nil && s.Health.Status != container.NoHealthcheck {
			out.Health = s.Health.Status
			if n := len(s.Health.Log); n > 0 {
				out.HealthLog = strings.TrimSpace(s.Health.Log[n-1].Output)
			}
		}
	}
	if c.NetworkSettings != nil {
		for port, bindings := range c.NetworkSettings.Ports {
			for _, b := range bindings {
				n, _ := strconv.Atoi(b.HostPort)
				out.Ports = append(out.Ports, PublishedPort{HostIP: b.HostIP, HostPort: n, Port: port.Int(), Protocol: port.Proto()})
			}
		}
	}
	slices.SortFunc(out.Ports, func(a, b PublishedPort) int {
		return cmp.Or(a.Port-b.Port, cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.HostIP, b.HostIP), a.HostPort-b.HostPort)
	})
	return out
}

// instant parses a time from the engine. The engine uses the year 1 for never.
func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}

// WatchContainers implements Client.
func (e *Engine) WatchContainers(ctx context.Context, label string, changed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := e.agree(ctx); err != nil {
		return ctxOr(ctx, e.wrap("follow the engine's events", err))
	}
	// The stream begins some time after the call has returned: without a start time, events in between would be lost.
	since := strconv.FormatInt(time.Now().Add(-eventOverlap).Unix(), 10)
	messages, failures := e.api.Events(ctx, events.ListOptions{Since: since,
		Filters: filters.NewArgs(filters.Arg("type", string(events.ContainerEventType)), filters.Arg("label", label))})
	changed()
	for {
		select {
		case m := <-messages:
			// Commands that run inside a container do not change its state, and there may be many of them.
			if !strings.HasPrefix(string(m.Action), "exec_") {
				changed()
			}
		case err := <-failures:
			if err == nil || errors.Is(err, io.EOF) {
				err = errors.New("the engine has ended the stream of events")
			}
			return ctxOr(ctx, e.wrap("follow the engine's events", err))
		}
	}
}

// eventOverlap is the age of the oldest event in a new stream of events: clocks differ, and the engine counts in seconds.
const eventOverlap = 5 * time.Second

// ContainerChanges implements Client.
func (e *Engine) ContainerChanges(ctx context.Context, containerID string) ([]string, error) {
	changes, err := e.api.ContainerDiff(ctx, containerID)
	if err != nil {
		return nil, e.wrap("compare container "+short(containerID)+" with its image", err)
	}
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Path
	}
	return out, nil
}

// RemoveContainer implements Client.
func (e *Engine) RemoveContainer(ctx context.Context, containerID string) error {
	err := e.agree(ctx)
	if err == nil {
		err = e.api.ContainerStop(ctx, containerID, container.StopOptions{})
	}
	if err != nil {
		return e.wrap("stop container "+short(containerID), err)
	}
	return e.wrap("remove container "+short(containerID), e.api.ContainerRemove(ctx, containerID, container.RemoveOptions{Force: true}))
}
