package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// reconciling follows by a manager that leads by a Lease: its cached client, and a reconciler that
// keeps a picture of what it read for each request.
type reconciling struct {
	lock    sync.Mutex
	read    map[string]string
	counts  map[string]int
	clients client.Client
}

// Start runs the manager; returns when it leads and its cache has synced.
func (r *reconciling) Start(ctx context.Context, config *rest.Config, namespace string) (map[string]View, error) {
	ctrl.SetLogger(logr.Discard())
	r.read, r.counts = map[string]string{}, map[string]int{}
	lease, renew, retry := 60*time.Second, 40*time.Second, time.Second
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                 server.Options{BindAddress: "0"},
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection:          true,
		LeaderElectionID:        "follow",
		LeaderElectionNamespace: namespace,
		LeaseDuration:           &lease,
		RenewDeadline:           &renew,
		RetryPeriod:             &retry,
	})
	if err != nil {
		return nil, err
	}
	r.clients = manager.GetClient()
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).Complete(r)
	if err != nil {
		return nil, err
	}
	go func() {
		if err := manager.Start(ctx); err != nil {
			fail(err)
		}
	}()
	select {
	case <-manager.Elected():
	case <-time.After(patience):
		return nil, errors.New("it never led")
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !manager.GetCache().WaitForCacheSync(waiting) {
		return nil, errors.New("its cache did not sync")
	}
	return map[string]View{
		"the cached client": func() map[string]string {
			var found corev1.ConfigMapList
			if err := r.clients.List(ctx, &found, client.InNamespace(namespace)); err != nil {
				fail(err)
			}
			by := map[string]string{}
			for _, each := range found.Items {
				if mine(each.Name) {
					by[each.Name] = each.ResourceVersion
				}
			}
			return by
		},
		"the reconciler": r.picture,
	}, nil
}

// Reconcile reads the object from the cache, and remembers it or that it is gone.
func (r *reconciling) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var found corev1.ConfigMap
	err := r.clients.Get(ctx, request.NamespacedName, &found)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.counts["reconciled"]++
	if err != nil {
		r.counts["gone"]++
		delete(r.read, request.Name)
	} else if mine(request.Name) {
		r.read[request.Name] = found.ResourceVersion
	}
	return ctrl.Result{}, nil
}

// Record counts what was reconciled.
func (r *reconciling) Record() map[string]int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.counts
}

func (r *reconciling) picture() map[string]string {
	r.lock.Lock()
	defer r.lock.Unlock()
	copied := make(map[string]string, len(r.read))
	for of, version := range r.read {
		copied[of] = version
	}
	return copied
}
