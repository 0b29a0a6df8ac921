// Package slurm lets gangd schedule gangs on a cluster that Slurm runs: it is a back end
// that uses Slurm's own commands, and nothing else of it.
//
// # How it works
//
// Every gang is a job. Submit is sbatch with the job held, so that users see it in squeue.
// Start writes the nodes and the estimate of memory into the request, with scontrol update,
// and releases the job. Slurm then enforces, on every node n, what an admission policy has
// decided from estimates (Batat and Feitelson 2000, §3.2, eq. 1), and gangd cannot
// over-commit a node even if it is wrong about what else runs there:
//
//	Σ_{j on n} r_j ≤ M_n,   r_j = ⌈e_j·(1+margin)⌉ in MiB
//
// e_j is the estimate of a process, in bytes; one process of a gang runs on a node. M_n is
// RealMemory less MemSpecLimit. A job that is stopped keeps its memory and its request. If
// Slurm cannot start a job within the time that Start has, the job is cancelled.
//
// Stop and Continue send SIGSTOP and SIGCONT to the step of a job, with scancel, which the
// owner of a job may do. scancel asks the nodes themselves and returns when all have done
// it. A signal for the job instead would go through slurmctld, which does not wait, may send
// two in either order, and can show a job that ends meanwhile as STOPPED for ever. In squeue
// such jobs are RUNNING. Start returns when all processes are there, because Slurm loses a
// signal that comes before.
//
// One squeue every [Config.Period] tells of all jobs; when gangd has started or ended one, the
// first few come sooner. What happens to a job that gangd has not asked for ends it: jobs are
// submitted so that Slurm does not requeue them, and one that Slurm has requeued, held or
// started again all the same is cancelled. A job that slurmctld does not know any more, twice
// in a row, has ended with [Forgotten]. While slurmctld or munge are down, commands are tried
// again for as long as their context allows; signals for ten seconds, since it may be that
// only a node of that gang is down.
//
// When a process fails, the others of its gang are ended. When gangd dies, a process beside
// it continues what is stopped, for Slurm would leave it so for ever, and cancels what has
// not started, as soon as slurmctld answers. That needs the process to survive gangd: it does
// not where both are ended together, as by systemd with KillMode=control-group, at a logout
// with KillUserProcesses=yes, or with the machine.
//
// # What a process finds
//
// GANGD_RANK and the others that package backend lists. They come to it in the comment of the
// job, of which Slurm has 1024 bytes: a gang on more than some 200 nodes that are not
// neighbours in Slurm's order may be refused. Rank i is on the i-th node of Start, while
// Slurm's own SLURM_PROCID, and so the rank of MPI, counts nodes in Slurm's order; they are
// the same if gangd gives nodes in that order. GANGD_ADDRESS is the NodeAddr of rank 0's node
// and a port from 20000 to 29999, by number of job. Processes are started by srun, as whoever
// runs gangd, with gangd's environment and that of the gang, as far as its names are ones of
// shell variables: others may be lost on the way.
//
// # What a site must configure
//
//   - SelectTypeParameters with memory, such as CR_CPU_Memory; without it estimates are not
//     enforced.
//   - OverSubscribe=FORCE:n for the partition: gangs that take turns are allocated the same
//     processors all the time, so that on nodes of one processor a matrix can have n slots
//     ([Backend.Share]). Slurm does not start a gang of a further one, while the others stand
//     still, and it is cancelled when the time of Start is over.
//   - JobAcctGatherType=jobacct_gather/linux or cgroup, for Usage. What sstat says is fresh: it
//     looks when asked. Without it there is no usage, gangd has no history, and a start
//     takes five seconds more.
//   - AccountingStorageType, if there is one, is used for what a job has used in all. Without
//     it, the last of the samples that are taken every five periods has to do, and a gang
//     that was shorter has none: the time is in the field Measured.
//   - PreemptMode without GANG for the partition: otherwise Slurm suspends on its own.
//   - SchedulerParameters with batch_sched_delay=0 and sched_min_interval=0, else a start takes
//     several seconds. With them slurmctld still starts released jobs once a second.
//
// Slurm tells processor time in whole seconds. A quantum should be of many seconds if gangs
// are to be paired by their measured shares of the processor: with q seconds and n
// processes a share is measured to 1/(q·n).
//
// gangd runs as an ordinary user, and then all gangs are that user's. It needs the commands
// sbatch, scontrol, squeue, scancel, sinfo, sstat and, where there is accounting, sacct; and
// squeue and srun on the nodes.
//
// # The risk of lowering a request
//
// Slurm has no limit apart from the request. Where task/cgroup has ConstrainRAMSpace=yes, a
// process that exceeds its estimate is killed, so that an estimate from history turns a
// rare long run into a lost one. Use [Config.Margin], or AllowedRAMSpace above 100 in
// cgroup.conf; and submit a gang whose exit is a [JobError] with the state OUT_OF_MEMORY
// again, with a larger estimate: the kernel's limit, not the peak that was measured, is then
// what is known about its need. Where memory is not constrained, a gang that exceeds its
// estimate makes its nodes swap, as in the paper.
//
// Versions 20.02 and later of Slurm are accepted; tested with 22.05. Package cluster has a
// Slurm to try all this on.
//
// The package carries no promise of compatibility.
package slurm
