// Package shared keeps what outlives one configuration: connection pools, mirrors, parsed files. The old and the new
// configuration of a reload use the same thing at the same time, and the last one to let go closes it.
//
// caddy tells a configuration that it ends only when it had been started in full. One that is thrown away half way
// through a failed reload hears nothing, so what it acquired would leak. An [Owner] stands for one configuration and
// ends with it, however it ends: the configuration that stays in force is called back, and looks for owners whose
// configuration is gone.
package shared
