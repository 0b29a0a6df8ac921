// Package plugin brings memory estimated from history, hard admission by memory,
// gangs and a bounded skip to kube-scheduler, as a plugin of its framework. It
// imports the staging modules of Kubernetes alone, so that it needs no replace lines.
// The package of kube-scheduler needs them, k8s.io/kubernetes/cmd/kube-scheduler/app,
// with which a scheduler of yours begins; copy those of this module:
//
//	command := app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))
//
// # Memory
//
// A process of a job will need what the history of package policy estimates from
// runs of the same image, or of the same [JobLabel], in gangs of the same size, for
// the same namespace and [UserLabel] (A. Batat and D. G. Feitelson, "Gang scheduling
// with memory considerations", IPDPS 2000, §2). A pod is a process. Its estimate is,
// in this order,
//
//	its MemoryAnnotation
//	that of the history, at most its limit
//	its request or its limit, whichever is greater
//
// and a node admits it by Eq. (1) of §3.2,
//
//	estimate ≤ floor(allocatable · C) − Σ estimates of the pods there
//
// where a pod that was measured to use more than its estimate counts with what was
// measured. Equality admits. Among nodes that admit, the plugin prefers the one that
// keeps the least.
//
// Kubernetes checks requests besides. So estimates above requests hold anywhere;
// estimates below them, and C > 1, let more pods in only as far as requests are
// small.
//
// # Gangs
//
// A gang is the pods of a namespace with the same [GangLabel], of which
// [GangSizeAnnotation] says how many it needs. None is tried before they all exist,
// nor before there is memory for all that are missing, and none is bound before all
// have a node. If one finds none, the others let go theirs, and the gang rests for one
// to ten seconds. Where the cluster has PodGroups and kube-scheduler has its feature
// gates GenericWorkload and GangScheduling, pods that name a PodGroup are a gang of
// its minCount, and kube-scheduler sees to the rest.
//
// # The queue
//
// Jobs, gangs or pods alone, start in the order of their priority and then as they
// were complete, but one that fits may pass one that does not, up to K times: see
// package policy. A pod that is held back says so in its condition PodScheduled, and
// in the event FailedScheduling; one of a gang that is incomplete or makes no sense in
// the events GangIncomplete and InvalidGang.
//
// # What it learns
//
// When all pods of a gang have ended, the largest of their peaks is learnt. A peak
// is the largest of what the metrics API reported, what [PeakAnnotation] says and,
// if the kernel killed the pod for want of memory, its limit. Pods that fail otherwise
// teach only that more is needed than was estimated. Pods that are deleted before they end
// teach nothing.
//
// The history is loaded when the scheduler takes its first decision, that is, when
// it leads, and saved from time to time; see [Args].
package plugin
