package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// factory follows by a SharedInformerFactory: its lister, an index of its own, and a handler that
// keeps a picture from what it is told, and counts what it should never be told.
type factory struct {
	lock    sync.Mutex
	told    map[string]string
	counts  map[string]int
	indexer cache.Indexer
}

// Start follows; returns when the informer and its handler have synced.
func (f *factory) Start(ctx context.Context, config *rest.Config, namespace string) (map[string]View, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	f.told, f.counts = map[string]string{}, map[string]int{}
	informersOf := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	maps := informersOf.Core().V1().ConfigMaps()
	lister, informer := maps.Lister().ConfigMaps(namespace), maps.Informer()
	f.indexer = informer.GetIndexer()
	parity := func(object any) ([]string, error) { return []string{object.(*corev1.ConfigMap).Labels["parity"]}, nil }
	if err := informer.AddIndexers(cache.Indexers{"parity": parity}); err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: f.added, UpdateFunc: f.updated, DeleteFunc: f.deleted,
	})
	if err != nil {
		return nil, err
	}
	informersOf.Start(ctx.Done())
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !cache.WaitForCacheSync(waiting.Done(), informer.HasSynced, registration.HasSynced) {
		return nil, errors.New("the informer did not sync")
	}
	return map[string]View{
		"the lister": func() map[string]string {
			found, err := lister.List(labels.Everything())
			if err != nil {
				fail(err)
			}
			return versions(found)
		},
		"the index": func() map[string]string {
			found := map[string]string{}
			for _, value := range []string{"0", "1"} {
				indexed, err := f.indexer.ByIndex("parity", value)
				if err != nil {
					fail(err)
				}
				for _, object := range indexed {
					found[object.(*corev1.ConfigMap).Name] = object.(*corev1.ConfigMap).ResourceVersion
				}
			}
			return found
		},
		"the handler": f.picture,
	}, nil
}

// Record counts what the handler was told.
func (f *factory) Record() map[string]int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.counts
}

func (f *factory) added(object any, initial bool) {
	f.lock.Lock()
	defer f.lock.Unlock()
	made := object.(*corev1.ConfigMap)
	if !mine(made.Name) {
		return
	}
	if _, known := f.told[made.Name]; known {
		f.counts["illegal"]++
	}
	if initial {
		f.counts["initial"]++
	}
	f.counts["added"]++
	f.told[made.Name] = made.ResourceVersion
}

func (f *factory) updated(old, new any) {
	f.lock.Lock()
	defer f.lock.Unlock()
	made := new.(*corev1.ConfigMap)
	if !mine(made.Name) {
		return
	}
	if f.told[made.Name] != old.(*corev1.ConfigMap).ResourceVersion {
		f.counts["illegal"]++
	}
	f.counts["updated"]++
	f.told[made.Name] = made.ResourceVersion
}

func (f *factory) deleted(object any) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if tombstone, unseen := object.(cache.DeletedFinalStateUnknown); unseen {
		f.counts["tombstones"]++
		object = tombstone.Obj
	}
	made := object.(*corev1.ConfigMap)
	if !mine(made.Name) {
		return
	}
	if _, known := f.told[made.Name]; !known {
		f.counts["illegal"]++
	}
	f.counts["deleted"]++
	delete(f.told, made.Name)
}

func (f *factory) picture() map[string]string {
	f.lock.Lock()
	defer f.lock.Unlock()
	copied := make(map[string]string, len(f.told))
	for of, version := range f.told {
		copied[of] = version
	}
	return copied
}

// The root certificate that controllers put into each namespace is not ours.
func mine(of string) bool {
	var number int
	_, err := fmt.Sscanf(of, "object-%d", &number)
	return err == nil
}

func versions(found []*corev1.ConfigMap) map[string]string {
	by := make(map[string]string, len(found))
	for _, each := range found {
		if mine(each.Name) {
			by[each.Name] = each.ResourceVersion
		}
	}
	return by
}
