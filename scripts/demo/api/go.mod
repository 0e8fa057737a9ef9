// A module of its own: the demo is a project that hone works on, not a part of hone.
module hone.local/demo/api

go 1.24
