package hud

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
)

// webSchemes are the schemes that a browser opens.
var webSchemes = []string{"http", "https"}

// OpenBrowser opens a web address with the system's opener. It refuses everything that is not http or https, because such a
// link could start any program. The browser outlives hone.
func OpenBrowser(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(webSchemes, u.Scheme) || u.Host == "" {
		return fmt.Errorf("%q is not a web address", address)
	}
	argv := opener(runtime.GOOS, address)
	if _, err := exec.LookPath(argv[0]); err != nil {
		return fmt.Errorf("no %s on this machine", argv[0])
	}
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		// xdg-open may run for as long as the browser does. The shell starts it in the background, so that there is no need
		// to wait for it.
		argv = append([]string{"sh", "-c", `"$@" >/dev/null 2>&1 &`, "sh"}, argv...)
	}
	if err := exec.CommandContext(ctx, argv[0], argv[1:]...).Run(); err != nil {
		return fmt.Errorf("open %s: %w", address, err)
	}
	return nil
}

// opener returns the command that opens an address.
func opener(goos, address string) []string {
	switch goos {
	case "darwin":
		return []string{"open", address}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	return []string{"xdg-open", address}
}
