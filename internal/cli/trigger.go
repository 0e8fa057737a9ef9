package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/pkg/api"
)

// apiTimeout bounds a request to a session on this machine.
const apiTimeout = 10 * time.Second

func newTrigger(g *global) *cobra.Command {
	var f serverFlags
	c := &cobra.Command{
		Use:     "trigger NAME…",
		Short:   "Update resources of the running session now",
		Long:    "Asks the running session to update the resources now; (Tiltfile) evaluates the Tiltfile.",
		Example: "  hone trigger api\n  hone trigger '(Tiltfile)'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := trigger(cmd.Context(), f, args); err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(g.stdout, "Successfully triggered update for resource: %q\n", name)
			}
			return nil
		},
	}
	f.add(c)
	return c
}

func trigger(ctx context.Context, f serverFlags, names []string) error {
	body, err := json.Marshal(api.TriggerRequest{ManifestNames: names})
	if err != nil {
		return fmt.Errorf("trigger: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	address := net.JoinHostPort(f.host, strconv.Itoa(f.port))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/api/trigger", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("trigger: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return problem.Wrap(err, "no session answers at "+address,
			"start one with hone up, or say where it is: --host, --port, or TILT_HOST and TILT_PORT")
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var failure api.Failure
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if json.Unmarshal(text, &failure) != nil || failure.Error == "" {
		failure.Error = fmt.Sprintf("%s: %s", resp.Status, bytes.TrimSpace(text))
	}
	return fmt.Errorf("trigger: %s", failure.Error)
}
