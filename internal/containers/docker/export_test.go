package docker

import "github.com/docker/docker/client"

// API returns the client of the engine's API, for tests that need more than Client.
func (e *Engine) API() client.APIClient { return e.api }
