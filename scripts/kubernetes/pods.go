package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// newPodsCommand ends pods behind the kubelet's back, for when the cluster itself is being taken down. It asks
// containerd over CRI and not with ctr, because only CRI also gives back a pod's network address, namespace and mounts.
func newPodsCommand() *cobra.Command {
	var endpoint string
	var grace time.Duration
	command := &cobra.Command{
		Use:           "pods stop|remove",
		Short:         "stop or remove every pod that containerd knows",
		Args:          cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs:     []string{"stop", "remove"},
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, args []string) error {
			connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				return fmt.Errorf("connect to %s: %w", endpoint, err)
			}
			defer connection.Close()
			ended, err := endPods(command.Context(), cri.NewRuntimeServiceClient(connection), grace, args[0] == "remove")
			fmt.Println(ended)
			return err
		},
	}
	command.Flags().StringVar(&endpoint, "endpoint", "unix:///run/containerd/containerd.sock", "CRI `address` of containerd")
	command.Flags().DurationVar(&grace, "grace", 2*time.Second, "how long containers may take to end by themselves")
	return command
}

// endPods returns how many pods it ended. One pod that cannot be ended does not keep the others.
func endPods(ctx context.Context, runtime cri.RuntimeServiceClient, grace time.Duration, remove bool) (int, error) {
	running := &cri.ContainerFilter{State: &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING}}
	containers, err := runtime.ListContainers(ctx, &cri.ListContainersRequest{Filter: running})
	if err != nil {
		return 0, fmt.Errorf("list containers: %w", err)
	}
	// Many at a time: each may take its whole grace.
	stop := new(errgroup.Group)
	for _, container := range containers.Containers {
		stop.Go(func() error {
			_, err := runtime.StopContainer(ctx, &cri.StopContainerRequest{ContainerId: container.Id, Timeout: int64(grace.Seconds())})
			return err
		})
	}
	// What did not stop is killed with its sandbox, so this error is only worth keeping if that fails too.
	_ = stop.Wait()

	sandboxes, err := runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		return 0, fmt.Errorf("list pods: %w", err)
	}
	var ended int
	var failures []error
	for _, sandbox := range sandboxes.Items {
		if _, err := runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: sandbox.Id}); err != nil {
			failures = append(failures, fmt.Errorf("stop pod %q: %w", sandbox.Metadata.GetName(), err))
			continue
		}
		if remove {
			if _, err := runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: sandbox.Id}); err != nil {
				failures = append(failures, fmt.Errorf("remove pod %q: %w", sandbox.Metadata.GetName(), err))
				continue
			}
		}
		ended++
	}
	return ended, errors.Join(failures...)
}
