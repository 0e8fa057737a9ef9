package operationtest

import "testing"

func TestWorld(t *testing.T) {
	Run(t, Traits{Items: 3}, func(*testing.T) Subject { return &World{} })
}
