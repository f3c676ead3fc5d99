package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// synced prints how many milliseconds an informer takes to sync with no object, with one and with a
// thousand. Whoever streams the state and never says that it is complete is waited for in vain.
func synced(ctx context.Context, config *rest.Config) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	took := map[string]int64{}
	for _, count := range []int{0, 1, objects} {
		namespace := fmt.Sprintf("sync-%d", count)
		writer := &writer{ctx: ctx, clients: clients, namespace: namespace}
		if err := writer.makeNamespace(); err != nil {
			return err
		}
		if err := writer.create(0, count); err != nil {
			return err
		}
		started := time.Now()
		factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
		maps := factory.Core().V1().ConfigMaps().Informer()
		factory.Start(ctx.Done())
		waiting, cancel := context.WithTimeout(ctx, patience)
		done := cache.WaitForCacheSync(waiting.Done(), maps.HasSynced)
		cancel()
		if !done {
			return errors.New(namespace + " did not sync")
		}
		took[fmt.Sprint(count)] = time.Since(started).Milliseconds()
		if found := len(maps.GetStore().List()); found < count {
			return fmt.Errorf("%s synced with %d objects", namespace, found)
		}
	}
	record, err := json.Marshal(took)
	if err == nil {
		fmt.Println(string(record))
	}
	return err
}
