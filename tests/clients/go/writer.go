package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
)

const writers = 8

// writer changes ConfigMaps with the typed client, several at a time.
type writer struct {
	ctx       context.Context
	clients   kubernetes.Interface
	namespace string
}

func name(number int) string { return fmt.Sprintf("object-%04d", number) }

func (w *writer) makeNamespace() error {
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	_, err := w.clients.CoreV1().Namespaces().Create(w.ctx, space, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (w *writer) create(from, to int) error {
	return w.each(from, to, func(number int) error {
		made := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name:   name(number),
				Labels: map[string]string{"parity": fmt.Sprint(number % 2)},
			},
			Data:       map[string]string{"text": "größe 变更", "number": fmt.Sprint(number)},
			BinaryData: map[string][]byte{"bytes": {0, 1, 2, 255}},
		}
		got, err := w.clients.CoreV1().ConfigMaps(w.namespace).Create(w.ctx, made, metav1.CreateOptions{})
		if err == nil && got.Data["text"] != made.Data["text"] {
			return fmt.Errorf("%s came back as %v", name(number), got.Data)
		}
		return err
	})
}

func (w *writer) update(from, to int) error {
	maps := w.clients.CoreV1().ConfigMaps(w.namespace)
	return w.each(from, to, func(number int) error {
		got, err := maps.Get(w.ctx, name(number), metav1.GetOptions{})
		if err != nil {
			return err
		}
		got.Data["updated"] = got.ResourceVersion
		_, err = maps.Update(w.ctx, got, metav1.UpdateOptions{})
		return err
	})
}

func (w *writer) delete(from, to int) error {
	return w.each(from, to, func(number int) error {
		return w.clients.CoreV1().ConfigMaps(w.namespace).Delete(w.ctx, name(number), metav1.DeleteOptions{})
	})
}

func (w *writer) each(from, to int, do func(number int) error) error {
	failed := make(chan error, to-from)
	workqueue.ParallelizeUntil(w.ctx, writers, to-from, func(piece int) {
		if err := do(from + piece); err != nil {
			failed <- err
		}
	})
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// equal waits until every view is the server's state, as a consistent list tells it.
func (w *writer) equal(views map[string]View) error {
	deadline := time.Now().Add(patience)
	for {
		truth, err := w.state()
		if err != nil {
			return err
		}
		different := ""
		for of, view := range views {
			if seen := view(); !maps.Equal(truth, seen) {
				different = fmt.Sprintf("%s has %d objects where the server has %d: %s", of,
					len(seen), len(truth), difference(truth, seen))
			}
		}
		if different == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s", different)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *writer) state() (map[string]string, error) {
	state := map[string]string{}
	options := metav1.ListOptions{Limit: 300}
	for {
		page, err := w.clients.CoreV1().ConfigMaps(w.namespace).List(w.ctx, options)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if mine(item.Name) {
				state[item.Name] = item.ResourceVersion
			}
		}
		if page.Continue == "" {
			return state, nil
		}
		options.Continue = page.Continue
	}
}

func difference(truth, seen map[string]string) string {
	for of, version := range truth {
		if seen[of] != version {
			return fmt.Sprintf("%s is %q, not %q", of, seen[of], version)
		}
	}
	for of := range seen {
		if _, there := truth[of]; !there {
			return of + " is gone"
		}
	}
	return "nothing"
}
