package docker

import (
	"io"
	"sync"

	"github.com/sirupsen/logrus"
)

// Hush keeps libraries around containers from writing to standard error, because the terminal may be in use.
var Hush = sync.OnceFunc(func() { logrus.SetOutput(io.Discard) })
