// Package compare runs one workload under the policies of all packages of the
// library, on machines that differ only in how they are scheduled, so that the
// figures can stand in one table.
//
// The package carries no promise of compatibility.
//
// # Space sharing
//
//	fcfs, easy, conservative, depth=k
//
// give a job its processors until it ends (packages backfill and spaceshare). Alone
// they ignore memory. With +memory it is a second resource, with +relaxed the same
// under a limit that is relaxed for who has waited (Wang et al.), and with +paging
// jobs start as if there were memory for all. In the last two all jobs slow down when
// the memory is exceeded.
//
// # Gang scheduling
//
//	gang, paired
//
// share the processors in time (package gang): a process a processor, each processor
// with its part of the memory, all slots in turn, alternates on idle processors. Every
// job starts when it comes, and if a processor's memory is exceeded its processes slow
// down. With +memory jobs are admitted by their memory (Batat & Feitelson, eq. 1),
// which is taken as known. A paired gang shares the quanta of a second one if the
// processor time that both used lately suggests it (Wiseman & Feitelson).
//
// # Folding
//
//	fjt, folding, psa, asp, equipartition
//
// start moldable jobs on fewer processors than they ask for, and fold them (Utrera et
// al., packages folding and molding). Memory is ignored. The speed of a job is that of
// its processors, less what sharing them costs ([molding.CoScheduling]).
//
// # One cost of paging
//
// Where memory is exceeded everything takes longer by the factor of Tay and Zou, from
// the demand and the size: of the pool under space sharing, of the processor's part
// under gang scheduling. There a process takes at most what a processor has.
//
// # What logs do not tell
//
// is made up, and said to be, by the workload: memory if no job has any, the share of
// processor time of jobs that have none. Long are jobs estimated for more than an hour
// ([Long]).
package compare
