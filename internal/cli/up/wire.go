//go:build wireinject

package up

import (
	"context"

	"github.com/google/wire"
)

// initParts wires all parts of a session, except its view. Wire generates its body.
func initParts(ctx context.Context, o options, stop stopFunc) (sessionParts, func(), error) {
	wire.Build(provideKube, provideElsewhere, provideRegistries, provideDocker, provideLogs, provideProject, provideClaim, provideListeners, providePageLogin, provideObject, providePrevious, providePlan, provideRevision, provideReadOnly,
		provideServer, provideSession, provideStore, provideRunning, provideFleet, provideClusters, provideDownCommands, provideSynclets, provideRuns,
		provideEnvironment, provideDeliverer, provideInjection, provideImages, provideImage, provideBuilder, provideParts)
	return sessionParts{}, nil, nil
}
