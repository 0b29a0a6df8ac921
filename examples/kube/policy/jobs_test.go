package policy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/examples/kube/policy"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func alone(name string) policy.ID { return policy.ID{Namespace: "d", Name: name} }
func gang(name string) policy.ID  { return policy.ID{Namespace: "d", Name: name, Gang: true} }

func newJobs(t *testing.T, maxSkips int) *policy.Jobs {
	t.Helper()
	s, err := policy.NewJobs(maxSkips)
	require.NoError(t, err)
	s.Settle()
	return s
}

// add submits a job of size processes at once, and returns their UIDs.
func add(t *testing.T, s *policy.Jobs, id policy.ID, size int, priority int32) []policy.UID {
	t.Helper()
	var uids []policy.UID
	for i := range size {
		uid := policy.UID(fmt.Sprintf("%v %d", id, i))
		uids = append(uids, uid)
		require.NoError(t, s.Add(policy.Process{UID: uid, Job: id, Size: size, Priority: priority, Created: epoch}))
	}
	return uids
}

func may(s *policy.Jobs, id policy.ID) bool {
	_, ok := s.May(id)
	return ok
}

// Batat & Feitelson, §3.2: nobody is skipped more than K times.
func TestNobodyIsPassedOverMoreThanKTimes(t *testing.T) {
	s := newJobs(t, 3)
	add(t, s, gang("wide"), 4, 0)
	for i := range 3 {
		id := alone(fmt.Sprint(i))
		uids := add(t, s, id, 1, 0)
		require.True(t, may(s, id), "pod %d", i)
		require.True(t, s.Place(uids[0]))
		skips, ok := s.Skips(gang("wide"))
		require.True(t, ok)
		require.Equal(t, i+1, skips)
	}
	add(t, s, alone("late"), 1, 0)
	refusal, ok := s.May(alone("late"))
	require.False(t, ok)
	require.Equal(t, policy.Refusal{Holder: gang("wide"), Skips: 3}, refusal)
	require.Equal(t, "waits for gang d/wide, which was passed over 3 times and starts first", refusal.String())
	require.True(t, may(s, gang("wide")))

	require.Empty(t, s.Lifted(), "it holds still")
	for i := range 4 {
		require.Equal(t, i == 3, s.Place(policy.UID(fmt.Sprintf("%v %d", gang("wide"), i))))
	}
	require.True(t, s.Started(gang("wide")))
	require.Equal(t, []policy.ID{alone("late")}, s.Lifted())
	require.Empty(t, s.Lifted(), "each is told once")
	require.True(t, may(s, alone("late")))
}

func TestHolderThatGoesLiftsTheHold(t *testing.T) {
	for name, end := range map[string]func(*policy.Jobs, policy.UID){
		"removed":   func(s *policy.Jobs, uid policy.UID) { s.Remove(uid) },
		"set aside": func(s *policy.Jobs, _ policy.UID) { s.SetAside(alone("first")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newJobs(t, 1)
			first := add(t, s, alone("first"), 1, 0)
			s.Place(add(t, s, alone("second"), 1, 0)[0])
			add(t, s, alone("third"), 1, 0)
			require.False(t, may(s, alone("third")))
			end(s, first[0])
			require.Equal(t, []policy.ID{alone("third")}, s.Lifted())
			require.True(t, may(s, alone("third")))
		})
	}
}

func TestSetAsideComesBackAtTheEnd(t *testing.T) {
	s := newJobs(t, 1)
	odd := add(t, s, alone("odd"), 1, 0)
	s.SetAside(alone("odd"))
	_, waits := s.Skips(alone("odd"))
	require.False(t, waits)
	require.True(t, may(s, alone("odd")), "it may still be tried")
	add(t, s, alone("other"), 1, 0)
	s.Return(alone("odd"))
	skips, waits := s.Skips(alone("odd"))
	require.True(t, waits)
	require.Zero(t, skips)
	require.True(t, s.Place(odd[0]))
	skips, _ = s.Skips(alone("other"))
	require.Equal(t, 1, skips, "the other was ahead of it")
}

// One that starts from aside was behind all, and passes over all.
func TestStartFromAsideSkipsAll(t *testing.T) {
	s := newJobs(t, 5)
	odd := add(t, s, alone("odd"), 1, 0)
	s.SetAside(alone("odd"))
	add(t, s, alone("other"), 1, 0)
	require.True(t, s.Place(odd[0]))
	skips, _ := s.Skips(alone("other"))
	require.Equal(t, 1, skips)
}

func TestPriorities(t *testing.T) {
	s := newJobs(t, 2)
	add(t, s, alone("low"), 1, 0)
	add(t, s, alone("high"), 1, 10)
	for i := range 5 { // of higher priority: ahead of low, so nobody is skipped but high by none
		id := alone(fmt.Sprint("higher", i))
		uid := add(t, s, id, 1, 20)
		require.True(t, may(s, id))
		require.True(t, s.Place(uid[0]))
	}
	skips, _ := s.Skips(alone("low"))
	require.Zero(t, skips)
	for i := range 2 { // of lower priority: high is skipped, and low too
		id := alone(fmt.Sprint("lower", i))
		require.True(t, s.Place(add(t, s, id, 1, -1)[0]))
	}
	for _, id := range []policy.ID{alone("low"), alone("high")} {
		skips, _ := s.Skips(id)
		require.Equal(t, 2, skips, "%v", id)
	}
	add(t, s, alone("lowest"), 1, -1)
	require.False(t, may(s, alone("lowest")))
	require.False(t, may(s, alone("low")), "high is ahead of it and holds")
	require.True(t, may(s, alone("high")))
	add(t, s, alone("top"), 1, 20)
	require.True(t, may(s, alone("top")), "nobody holds those of higher priority")
}

func TestGathering(t *testing.T) {
	s := newJobs(t, 0)
	g := gang("g")
	p := policy.Process{Job: g, Size: 3, Created: epoch}
	for i := range 2 {
		p.UID = policy.UID(fmt.Sprint(i))
		require.NoError(t, s.Add(p))
	}
	refusal, ok := s.May(g)
	require.False(t, ok)
	require.Equal(t, "2 of the 3 pods of the gang exist", refusal.String())
	_, waits := s.Skips(g)
	require.False(t, waits, "a gang is in the queue once it is complete")
	p.UID = "2"
	require.NoError(t, s.Add(p))
	require.True(t, may(s, g))
	s.Remove("0")
	require.False(t, may(s, g))
	_, waits = s.Skips(g)
	require.False(t, waits)
}

// A gang that lost a process, of which another waits, comes before all others.
func TestBrokenGangComesFirst(t *testing.T) {
	s := newJobs(t, 15)
	uids := add(t, s, gang("g"), 3, 0)
	for _, uid := range uids {
		s.Place(uid)
	}
	for _, id := range []policy.ID{alone("same"), alone("high"), alone("low")} {
		add(t, s, id, 1, map[string]int32{"same": 0, "high": 7, "low": -7}[id.Name])
	}
	s.Unplace(uids[1])
	for _, name := range []string{"same", "high", "low"} {
		refusal, ok := s.May(alone(name))
		require.False(t, ok, name)
		require.True(t, refusal.Broken)
		require.Equal(t, "waits for gang d/g, of which a part runs and the rest comes first", refusal.String())
	}
	require.True(t, may(s, gang("g")))
	require.False(t, s.Place(uids[1]), "it is no new start")
	skips, _ := s.Skips(alone("same"))
	require.Zero(t, skips, "and skips nobody")
	require.Len(t, s.Lifted(), 3)
	require.True(t, may(s, alone("low")))

	t.Run("the rest fits nowhere", func(t *testing.T) {
		s.Unplace(uids[1])
		require.False(t, may(s, alone("same")))
		s.SetAside(gang("g"))
		require.True(t, may(s, alone("same")))
		s.Return(gang("g"))
		require.False(t, may(s, alone("same")))
	})
	t.Run("the rest is removed", func(t *testing.T) {
		s.Remove(uids[1])
		require.True(t, may(s, alone("same")), "nobody waits to replace it")
	})
}

// A gang all of which is unplaced again waits as before.
func TestStartTakenBack(t *testing.T) {
	s := newJobs(t, 15)
	uids := add(t, s, gang("g"), 2, 0)
	s.Place(add(t, s, alone("a"), 1, 0)[0])
	s.Place(add(t, s, alone("b"), 1, 0)[0])
	s.Place(uids[0])
	require.True(t, s.Place(uids[1]))
	s.Unplace(uids[0])
	s.Unplace(uids[1])
	require.False(t, s.Started(gang("g")))
	skips, ok := s.Skips(gang("g"))
	require.True(t, ok)
	require.Equal(t, 2, skips)
	add(t, s, alone("c"), 1, 0)
	require.True(t, may(s, alone("c")))
}

// What was there when a scheduler begins is ordered by when it was complete, and a
// gang of which a part is bound comes first.
func TestSettle(t *testing.T) {
	s, err := policy.NewJobs(1)
	require.NoError(t, err)
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	require.NoError(t, s.Add(policy.Process{UID: "late", Job: alone("late"), Size: 1, Created: at(9)}))
	require.NoError(t, s.Add(policy.Process{UID: "g0", Job: gang("g"), Size: 2, Created: at(1)}))
	require.NoError(t, s.Add(policy.Process{UID: "g1", Job: gang("g"), Size: 2, Created: at(7)}))
	require.NoError(t, s.Add(policy.Process{UID: "early", Job: alone("early"), Size: 1, Created: at(5)}))
	require.NoError(t, s.Add(policy.Process{UID: "h0", Job: gang("h"), Size: 2, Created: at(9), Placed: true}))
	require.NoError(t, s.Add(policy.Process{UID: "h1", Job: gang("h"), Size: 2, Created: at(9)}))
	require.Negative(t, s.Position("early").Compare(s.Position("g0")), "g was complete at 7 s")
	require.Negative(t, s.Position("g1").Compare(s.Position("late")))
	s.Settle()
	refusal, ok := s.May(alone("early"))
	require.False(t, ok)
	require.Equal(t, policy.Refusal{Holder: gang("h"), Broken: true, Skips: 1}, refusal)
	require.False(t, s.Place("h1"))
	require.True(t, s.Place("late"))
	for _, id := range []policy.ID{alone("early"), gang("g")} {
		skips, ok := s.Skips(id)
		require.True(t, ok)
		require.Equal(t, 1, skips, "%v is ahead of late", id)
	}
	require.False(t, may(s, gang("g")), "early has been skipped as often as may be")
}

func TestSkipsOfPolicies(t *testing.T) {
	fcfs := newJobs(t, admission.FCFS)
	add(t, fcfs, alone("a"), 1, 0)
	add(t, fcfs, alone("b"), 1, 0)
	require.True(t, may(fcfs, alone("a")))
	require.False(t, may(fcfs, alone("b")))

	any := newJobs(t, admission.FirstFit)
	add(t, any, alone("a"), 1, 0)
	for i := range 100 {
		id := alone(fmt.Sprint(i))
		uid := add(t, any, id, 1, 0)
		require.True(t, may(any, id))
		any.Place(uid[0])
	}

	_, err := policy.NewJobs(-2)
	require.ErrorIs(t, err, admission.ErrSkips)
}

// A broken gang comes first under any K.
func TestBrokenGangUnderAnyK(t *testing.T) {
	for _, k := range []int{admission.FCFS, 1, 15, admission.FirstFit} {
		s := newJobs(t, k)
		g := add(t, s, gang("g"), 2, 0)
		s.Place(g[0])
		s.Place(g[1])
		s.Unplace(g[0])
		other := add(t, s, alone("other"), 1, 0)
		require.False(t, may(s, alone("other")), "K = %d", k)
		s.Place(g[0])
		require.True(t, may(s, alone("other")), "K = %d", k)
		require.True(t, s.Place(other[0]))
	}
}

func TestBadProcesses(t *testing.T) {
	s := newJobs(t, 0)
	require.ErrorIs(t, s.Add(policy.Process{Job: alone("a"), Size: 1}), policy.ErrJob)
	err := s.Add(policy.Process{UID: "u", Job: gang("g"), Size: -3})
	require.ErrorIs(t, err, policy.ErrJob)
	require.ErrorContains(t, err, "-3")
	jobs, _ := s.Waiting()
	require.Zero(t, jobs)
	s.Remove("nobody")
	s.Unplace("nobody")
	s.SetAside(alone("nobody"))
	s.Return(alone("nobody"))
	require.False(t, s.Place("nobody"))
	require.True(t, may(s, alone("nobody")))
}

// A scheduler that tries jobs in any order, on nodes with too little room for all,
// starts every job, and passes over none more than K times by jobs of no higher
// priority.
func TestRandomSchedulers(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		const room = 8
		k := 1 + r.IntN(5)
		s := newJobs(t, k)
		type job struct {
			id             policy.ID
			uids           []policy.UID
			priority       int32
			order, skips   int
			running, ended bool
		}
		var jobs []*job
		used := 0
		for step := 0; ; step++ {
			if step < 60 {
				j := &job{id: gang(fmt.Sprint(step)), priority: int32(r.IntN(2)), order: step}
				size := 1
				if r.IntN(4) == 0 {
					size = 1 + r.IntN(room)
				}
				j.uids = add(t, s, j.id, size, j.priority)
				jobs = append(jobs, j)
			}
			left := 0
			for _, i := range r.Perm(len(jobs)) {
				j := jobs[i]
				if j.running && r.IntN(3) == 0 {
					j.running, j.ended = false, true
					used -= len(j.uids)
					for _, uid := range j.uids {
						s.Remove(uid)
					}
				}
				if !j.ended {
					left++
				}
				if j.running || j.ended || used+len(j.uids) > room || !may(s, j.id) {
					continue
				}
				used += len(j.uids)
				j.running = true
				for n, uid := range j.uids {
					require.Equal(t, n == len(j.uids)-1, s.Place(uid))
				}
				for _, w := range jobs {
					if !w.running && !w.ended && (w.priority > j.priority || w.priority == j.priority && w.order < j.order) {
						w.skips++
						require.LessOrEqual(t, w.skips, k, "seed %d: %v", seed, w.id)
						skips, ok := s.Skips(w.id)
						require.True(t, ok)
						require.Equal(t, w.skips, skips, "seed %d: %v", seed, w.id)
					}
				}
			}
			if left == 0 && step >= 60 {
				break
			}
			require.Less(t, step, 5000, "seed %d: %d jobs never start", seed, left)
		}
		n, _ := s.Waiting()
		require.Zero(t, n)
	}
}

// Whatever is said in whatever order, Jobs neither panics nor keeps what is gone.
func FuzzJobs(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 40, 41, 90, 91, 130, 131, 170, 200, 210, 250}, 2)
	f.Fuzz(func(t *testing.T, ops []byte, k int) {
		s, err := policy.NewJobs(k)
		if err != nil {
			return
		}
		for _, op := range ops {
			n := int(op) % 12
			id := gang(fmt.Sprint(n / 4))
			uid := policy.UID(fmt.Sprint(n))
			switch op / 12 % 9 {
			case 0, 1, 2:
				_ = s.Add(policy.Process{UID: uid, Job: id, Size: 1 + n/4, Priority: int32(n / 8), Created: epoch, Placed: op > 230})
			case 3:
				s.Remove(uid)
			case 4:
				s.Place(uid)
			case 5:
				s.Unplace(uid)
			case 6:
				s.SetAside(id)
			case 7:
				s.Return(id)
			case 8:
				s.Settle()
			}
			s.May(id)
			s.Lifted()
			known, placed := s.Count(id)
			require.LessOrEqual(t, placed, known)
			require.Len(t, s.Pending(nil, id), known-placed)
		}
		for n := range 12 {
			s.Remove(policy.UID(fmt.Sprint(n)))
		}
		jobs, _ := s.Waiting()
		require.Zero(t, jobs)
		for n := range 3 {
			require.True(t, may(s, gang(fmt.Sprint(n))))
		}
	})
}

func TestPositions(t *testing.T) {
	s := newJobs(t, 15)
	low := add(t, s, alone("low"), 1, 0)[0]
	high := add(t, s, alone("high"), 1, 1)[0]
	require.NoError(t, s.Add(policy.Process{UID: "part", Job: gang("part"), Size: 2, Priority: 1, Created: epoch}))
	require.Negative(t, s.Position(high).Compare(s.Position(low)), "priority first")
	require.Negative(t, s.Position(high).Compare(s.Position("part")), "a job that gathers is behind")
	require.Positive(t, s.Position("part").Compare(s.Position(high)))
	require.Zero(t, s.Position(low).Compare(s.Position(low)))
}

// A gang of which a part is found bound is broken, also after the scheduler has begun.
func TestGangFoundHalfBound(t *testing.T) {
	s := newJobs(t, 15)
	add(t, s, alone("other"), 1, 0)
	require.NoError(t, s.Add(policy.Process{UID: "g0", Job: gang("g"), Size: 2, Created: epoch, Placed: true}))
	require.True(t, may(s, alone("other")), "it gathers")
	require.NoError(t, s.Add(policy.Process{UID: "g1", Job: gang("g"), Size: 2, Created: epoch}))
	require.False(t, may(s, alone("other")))
}

// Somebody else may have given a process its node.
func TestPlacedBySomebodyElse(t *testing.T) {
	s := newJobs(t, 15)
	add(t, s, alone("ahead"), 1, 0)
	uid := add(t, s, alone("bound"), 1, 0)[0]
	require.NoError(t, s.Add(policy.Process{UID: uid, Job: alone("bound"), Size: 1, Created: epoch, Placed: true}))
	require.True(t, s.Started(alone("bound")))
	skips, _ := s.Skips(alone("ahead"))
	require.Equal(t, 1, skips)
}

// A gang that is being placed when another comes to hold it starts nevertheless, and
// waits no more.
func TestStartInSpiteOfAHolder(t *testing.T) {
	s := newJobs(t, 1)
	add(t, s, alone("head"), 1, 1) // of higher priority: it is in a queue of its own
	add(t, s, alone("same"), 1, 0)
	g := add(t, s, gang("g"), 2, 0)
	require.False(t, s.Place(g[0]))
	require.True(t, s.Place(add(t, s, alone("small"), 1, 0)[0]))
	require.False(t, may(s, gang("g")))
	require.True(t, s.Place(g[1]))
	waiting, skips := s.Waiting()
	require.Equal(t, 2, waiting, "head and same")
	require.Equal(t, 1, skips, "nobody more than K times")
}

// A gang that was refused because it gathered is lifted by whatever completes it.
func TestGangThatIsCompleteIsLifted(t *testing.T) {
	for name, refuse := range map[string]func(*policy.Jobs) bool{
		"when tried": func(s *policy.Jobs) bool { return !may(s, gang("g")) },
		"before": func(s *policy.Jobs) bool {
			_, gathers := s.Gathers(gang("g"))
			return gathers
		},
	} {
		for _, placed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " placed=", placed), func(t *testing.T) {
				s := newJobs(t, 15)
				require.NoError(t, s.Add(policy.Process{UID: "g0", Job: gang("g"), Size: 2, Created: epoch}))
				require.True(t, refuse(s))
				require.Empty(t, s.Lifted(), "it gathers still")
				require.NoError(t, s.Add(policy.Process{UID: "g1", Job: gang("g"), Size: 2, Created: epoch, Placed: placed}))
				require.Equal(t, []policy.ID{gang("g")}, s.Lifted())
				require.Empty(t, s.Lifted(), "each is told once")
				_, gathers := s.Gathers(gang("g"))
				require.False(t, gathers)
			})
		}
	}
	s := newJobs(t, 15)
	_, gathers := s.Gathers(gang("unknown"))
	require.False(t, gathers)
}

// A gang that loses a process while others have nodes, and gets another, has not
// started by that.
func TestProcessReplacedBeforeTheStart(t *testing.T) {
	s := newJobs(t, 15)
	g := add(t, s, gang("g"), 3, 0)
	require.False(t, s.Place(g[0]))
	s.Remove(g[2])
	require.NoError(t, s.Add(policy.Process{UID: "new", Job: gang("g"), Size: 3, Created: epoch}))
	require.False(t, s.Started(gang("g")))
	require.False(t, s.Place("new"))
	require.True(t, s.Place(g[1]), "now it has")
}

// A start that is taken back does not suspend a hold: who was held is.
func TestStartTakenBackKeepsTheHold(t *testing.T) {
	s := newJobs(t, 2)
	add(t, s, gang("wide"), 4, 0)
	for i := range 2 {
		s.Place(add(t, s, alone(fmt.Sprint(i)), 1, 0)[0])
	}
	add(t, s, alone("late"), 1, 0)
	require.False(t, may(s, alone("late")))
	s.Unplace(policy.UID(fmt.Sprint(alone("1"), " 0")))
	require.False(t, may(s, alone("late")))
	require.Empty(t, s.Lifted())
	require.True(t, may(s, alone("1")), "it had started")
	require.True(t, s.Place(policy.UID(fmt.Sprint(alone("1"), " 0"))))
	require.False(t, may(s, alone("late")))
	skips, _ := s.Skips(gang("wide"))
	require.Equal(t, 2, skips)
}

// When all of a gang that had nodes are gone, those left are another run of it.
func TestAnotherRunOfAGangOfThatName(t *testing.T) {
	s := newJobs(t, 15)
	old := add(t, s, gang("g"), 2, 0)
	s.Place(old[0])
	require.True(t, s.Place(old[1]))
	require.NoError(t, s.Add(policy.Process{UID: "new0", Job: gang("g"), Size: 2, Created: epoch}))
	require.True(t, s.Started(gang("g")))
	s.Remove(old[0])
	s.Remove(old[1])
	require.False(t, s.Started(gang("g")))
	require.False(t, may(s, gang("g")), "it gathers")
	require.NoError(t, s.Add(policy.Process{UID: "new1", Job: gang("g"), Size: 2, Created: epoch}))
	require.True(t, may(s, gang("g")))
	require.False(t, s.Place("new0"))
	require.True(t, s.Place("new1"))
}

// Who is held by the next one when the first goes is not lifted.
func TestHeldByTheNext(t *testing.T) {
	s := newJobs(t, 1)
	first := add(t, s, gang("first"), 2, 0)
	second := add(t, s, gang("second"), 2, 0)
	s.Place(add(t, s, alone("small"), 1, 0)[0])
	add(t, s, alone("late"), 1, 0)
	require.False(t, may(s, alone("late")))
	require.False(t, may(s, gang("second")))
	s.Place(first[0])
	require.True(t, s.Place(first[1]))
	require.Equal(t, []policy.ID{gang("second")}, s.Lifted())
	s.Place(second[0])
	require.True(t, s.Place(second[1]))
	require.Equal(t, []policy.ID{alone("late")}, s.Lifted())
}

// What a user corrects counts: the size, and which gang a process is of.
func TestProcessesThatChange(t *testing.T) {
	s := newJobs(t, 15)
	change := func(uid policy.UID, id policy.ID, size int) {
		require.NoError(t, s.Add(policy.Process{UID: uid, Job: id, Size: size, Created: epoch}))
	}
	change("a", gang("g"), 8)
	change("b", gang("g"), 8)
	require.False(t, may(s, gang("g")))
	change("a", gang("g"), 2)
	require.True(t, may(s, gang("g")))
	require.Equal(t, []policy.ID{gang("g")}, s.Lifted())

	change("b", alone("b"), 1)
	require.False(t, may(s, gang("g")), "it lacks one again")
	require.True(t, may(s, alone("b")))
	require.True(t, s.Place("b"))
	require.True(t, s.Started(alone("b")))
	known, placed := s.Count(gang("g"))
	require.Equal(t, []int{1, 0}, []int{known, placed})
	change("b", gang("g"), 2)
	require.True(t, s.Started(alone("b")), "what is placed stays what it is")
}

// A scheduler that begins finds a gang of which some have ended, some run, and one
// that was replaced waits: that has started, and is broken.
func TestGangThatEndsWhenASchedulerBegins(t *testing.T) {
	s, err := policy.NewJobs(15)
	require.NoError(t, err)
	add(t, s, alone("other"), 1, 0)
	for _, uid := range []policy.UID{"g1", "g2"} {
		require.NoError(t, s.Add(policy.Process{UID: uid, Job: gang("g"), Size: 4, Created: epoch, Placed: true}))
	}
	require.NoError(t, s.Add(policy.Process{UID: "again", Job: gang("g"), Size: 4, Created: epoch.Add(time.Hour)}))
	s.Settle()
	require.True(t, s.Started(gang("g")))
	require.True(t, may(s, gang("g")))
	require.False(t, may(s, alone("other")))
	s.Place("again")
	require.True(t, may(s, alone("other")))
}

// What a gang has more than it needs passes others as pods alone do.
func TestMoreThanAGangNeeds(t *testing.T) {
	s := newJobs(t, 2)
	wide := add(t, s, gang("wide"), 4, 0)
	for i := range 2 {
		require.NoError(t, s.Add(policy.Process{UID: policy.UID(fmt.Sprint(i)), Job: gang("many"), Size: 1, Created: epoch}))
		require.True(t, may(s, gang("many")))
		s.Place(policy.UID(fmt.Sprint(i)))
		skips, _ := s.Skips(gang("wide"))
		require.Equal(t, i+1, skips)
	}
	require.NoError(t, s.Add(policy.Process{UID: "2", Job: gang("many"), Size: 1, Created: epoch}))
	require.False(t, may(s, gang("many")))
	for _, uid := range wide {
		s.Place(uid)
	}
	require.Equal(t, []policy.ID{gang("many")}, s.Lifted())
}
