// Command gangkit-scheduler is kube-scheduler with the plugin Gangkit: see its flags
// with -h, and the folder manifests for a configuration.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // for --logging-format=json
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/gangkit/gangkit/examples/kube/plugin"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))))
}
