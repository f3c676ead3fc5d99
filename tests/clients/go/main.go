// follow lets client-go and controller-runtime follow 1,000 objects through all that happens to
// them: `follow factory` a SharedInformerFactory, `follow manager` a manager with a reconciler, and
// tells with `follow sync` how long informers take to sync.
//
// It writes one word for each stage that needs the test's help, waits for a line, and ends with a
// record of what it saw. Any difference between cache and server is an error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	objects  = 1000
	patience = 60 * time.Second
)

// View is what a client knows of the objects: name to resourceVersion.
type View func() map[string]string

// Follower is started once, when half of the objects are there. Its views must become equal to the
// server's state, each of them.
type Follower interface {
	Start(ctx context.Context, config *rest.Config, namespace string) (map[string]View, error)
	Record() map[string]int
}

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: follow factory|manager|sync KUBECONFIG SERVER"))
	}
	if os.Args[1] == "sync" {
		config, err := clientcmd.BuildConfigFromFlags(os.Args[3], os.Args[2])
		if err != nil {
			fail(err)
		}
		config.QPS = -1
		if err := synced(context.Background(), config); err != nil {
			fail(err)
		}
		return
	}
	var follower Follower
	switch os.Args[1] {
	case "factory":
		follower = &factory{}
	case "manager":
		follower = &reconciling{}
	default:
		fail(fmt.Errorf("no such follower: %s", os.Args[1]))
	}
	config, err := clientcmd.BuildConfigFromFlags(os.Args[3], os.Args[2])
	if err != nil {
		fail(err)
	}
	config.QPS = -1 // the server is to be measured by what it does, not by this client's patience
	ctx, cancel := context.WithCancel(context.Background())
	if err := follow(ctx, follower, config, "follow-"+os.Args[1]); err != nil {
		fail(err)
	}
	cancel()
	record, err := json.Marshal(follower.Record())
	if err != nil {
		fail(err)
	}
	fmt.Println(string(record))
}

func follow(ctx context.Context, follower Follower, config *rest.Config, namespace string) error {
	// As kubectl and every typed client do: protobuf out, and in if the server can.
	typed := rest.CopyConfig(config)
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	typed.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clients, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return err
	}
	writer := &writer{ctx: ctx, clients: clients, namespace: namespace}
	stages := bufio.NewScanner(os.Stdin)
	help := func(stage string) error {
		fmt.Println(stage)
		if !stages.Scan() {
			return fmt.Errorf("nobody helped with %s", stage)
		}
		return nil
	}

	if err := writer.makeNamespace(); err != nil {
		return err
	}
	if err := writer.create(0, objects/2); err != nil {
		return err
	}
	views, err := follower.Start(ctx, config, namespace)
	if err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"sync", func() error { return nil }},
		{"creates", func() error { return writer.create(objects/2, objects) }},
		{"updates", func() error { return writer.update(0, objects) }},
		{"deletes", func() error { return writer.delete(0, 100) }},
		// The server is stopped and started: the watches go on where they were.
		{"restart", func() error { return help("restart") }},
		{"after restart", func() error {
			if err := writer.update(100, 200); err != nil {
				return err
			}
			return writer.delete(200, 300)
		}},
		// Nobody can reach it while others change, delete and create, and the log is compacted.
		{"relist", func() error { return help("relist") }},
		{"after relist", func() error { return writer.update(900, 1000) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := writer.equal(views); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintln(os.Stderr, step.name, "done")
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
