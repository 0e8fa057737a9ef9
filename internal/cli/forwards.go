package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/pkg/api"
)

func newForwards(g *global) *cobra.Command {
	var f serverFlags
	c := &cobra.Command{
		Use:   "forwards",
		Short: "List the port forwards of the running session",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return forwards(cmd.Context(), f, g.stdout) },
	}
	f.add(c)
	return c
}

func forwards(ctx context.Context, f serverFlags, w io.Writer) error {
	v, err := askView(ctx, f)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	none := true
	for _, r := range v.Resources {
		for _, p := range r.PortForwards {
			none = false
			to := p.Pod
			if p.Error != "" {
				to = p.Error
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Name, p.URL, p.State, to)
		}
	}
	if none {
		fmt.Fprintln(t, "no resource forwards a port")
	}
	return t.Flush()
}

// askView asks a running session for everything that it shows.
func askView(ctx context.Context, f serverFlags) (v api.View, err error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	address := net.JoinHostPort(f.host, strconv.Itoa(f.port))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/view", nil)
	if err != nil {
		return v, fmt.Errorf("ask the session: %w", err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return v, problem.Wrap(err, "no session answers at "+address,
			"start one with hone up, or say where it is: --host, --port, or TILT_HOST and TILT_PORT")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return v, fmt.Errorf("ask the session at %s: %s", address, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		return v, fmt.Errorf("ask the session at %s: %w", address, err)
	}
	return v, nil
}
