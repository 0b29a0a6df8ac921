package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gangkit/gangkit/admission"
)

// ErrJob is returned for a job or process that cannot be, wrapped with the value.
var ErrJob = errors.New("policy: invalid job")

// ID identifies a job: a gang by its name, or a process alone by its own.
type ID struct {
	Namespace, Name string
	Gang            bool
}

// String returns the job as a user knows it.
func (id ID) String() string {
	if id.Gang {
		return "gang " + id.Namespace + "/" + id.Name
	}
	return "pod " + id.Namespace + "/" + id.Name
}

// UID identifies a process.
type UID string

// Process is one process of a job, as it was submitted.
type Process struct {
	UID      UID
	Job      ID
	Size     int       // processes that the job needs to run, > 0
	Priority int32     // the higher, the earlier; that of a job is its first process's
	Created  time.Time // when it was submitted
	Placed   bool      // it has a node already
}

// Place in the queue, as [Jobs.Position] reports it.
type Position struct {
	Priority int32
	Complete time.Time // when the last process needed was submitted; zero while gathering
	Order    uint64    // among those complete in the same second
}

// Compare orders positions: negative if p is before q. Higher priorities come
// first, then those complete earlier; jobs that gather are last.
func (p Position) Compare(q Position) int {
	if c := cmp.Compare(q.Priority, p.Priority); c != 0 {
		return c
	}
	if p.Order == 0 || q.Order == 0 {
		return cmp.Compare(q.Order, p.Order)
	}
	if c := cmp.Compare(p.Complete.Unix(), q.Complete.Unix()); c != 0 {
		return c
	}
	return cmp.Compare(p.Order, q.Order)
}

type state int

const (
	gathering state = iota
	waiting
	aside
	started
)

type job struct {
	id       ID
	size     int
	position Position
	state    state
	skips    int  // with which it started
	hopeless bool // started, and the rest of it fits nowhere
	refused  bool // while gathering
	created  map[UID]time.Time
	placed   map[UID]placement
}

// placement tells how it is known that a process has a node.
type placement int

const (
	promised placement = iota + 1 // by Place
	bound                         // by Add
)

// isBound tells whether a process was added with a node.
func (j *job) isBound() bool {
	for _, p := range j.placed {
		if p == bound {
			return true
		}
	}
	return false
}

// broken tells whether a started gang has lost processes that others wait to
// replace, as far as they can.
func (j *job) broken() bool {
	return j.state == started && !j.hopeless && len(j.placed) > 0 && len(j.placed) < j.size && len(j.created) > len(j.placed)
}

type queue struct {
	priority int32
	waiting  *admission.Queue[ID]
}

// Jobs holds the jobs of a scheduler. Use [NewJobs].
type Jobs struct {
	mu       sync.Mutex
	maxSkips int
	queues   []queue // by falling priority
	jobs     map[ID]*job
	of       map[UID]*job
	held     map[ID]map[ID]bool // the jobs that were refused for each holder
	gathered []ID               // those that were refused while gathering, and are complete
	order    uint64
	settled  bool
}

// NewJobs returns Jobs without any. maxSkips is K, how often a job may be passed
// over; 0 means 15, and [admission.FCFS] and [admission.FirstFit] are allowed. What
// else is negative is refused with an error of package admission.
func NewJobs(maxSkips int) (*Jobs, error) {
	if _, err := admission.NewQueue[ID](admission.QueueConfig{MaxSkips: maxSkips}); err != nil {
		return nil, err
	}
	switch maxSkips {
	case 0:
		maxSkips = 15
	case admission.FCFS:
		maxSkips = 0
	}
	return &Jobs{maxSkips: maxSkips, jobs: map[ID]*job{}, of: map[UID]*job{}, held: map[ID]map[ID]bool{}}, nil
}

// Settle puts the jobs that were complete before it into the queue, in the order in
// which they were complete, and from then on jobs enter the queue when they are
// complete. A scheduler calls it once it knows of all processes that were there
// when it began, as it learns of these in no order.
func (s *Jobs) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled {
		return
	}
	s.settled = true
	var complete []*job
	for _, j := range s.jobs {
		if j.position.Order == 0 && j.isBound() { // it had started, and some of it ended
			s.complete(j, len(j.created))
		}
		if j.position.Order > 0 {
			complete = append(complete, j)
		}
	}
	slices.SortFunc(complete, func(a, b *job) int { return a.position.Compare(b.position) })
	for _, j := range complete {
		if len(j.placed) == 0 {
			s.enter(j)
		} else {
			j.state = started
			s.mend(j)
		}
	}
}

// Add says that a process was submitted. Said twice, it changes whether the process
// is placed, from no to yes, and to which job it belongs, as long as it is not
// placed. The size of a job is that of the process added last while it gathers.
// Errors: ErrJob, for a process without UID or a size that is not positive; Jobs is
// then as before.
//
// O(log n) in the jobs that wait, as are all methods that do not say otherwise.
func (s *Jobs) Add(p Process) error {
	if p.UID == "" {
		return fmt.Errorf("%w: %v: a process without UID", ErrJob, p.Job)
	}
	if p.Size <= 0 {
		return fmt.Errorf("%w: %v: size %d, want at least 1", ErrJob, p.Job, p.Size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.of[p.UID]; j != nil && (j.id == p.Job || j.placed[p.UID] != 0) {
		if p.Placed && j.placed[p.UID] == 0 {
			s.place(j, p.UID)
		}
		if p.Placed {
			j.placed[p.UID] = bound
		}
		s.resize(j, p.Size)
		return nil
	}
	s.remove(p.UID) // from another job, if there was one
	j := s.jobs[p.Job]
	if j == nil {
		j = &job{
			id: p.Job, size: p.Size, position: Position{Priority: p.Priority},
			created: map[UID]time.Time{}, placed: map[UID]placement{},
		}
		s.jobs[p.Job] = j
	}
	j.created[p.UID] = p.Created
	s.of[p.UID] = j
	if p.Placed {
		j.placed[p.UID] = bound
	}
	s.resize(j, p.Size)
	s.gather(j)
	s.mend(j)
	return nil
}

// resize has a job that gathers wait for so many processes.
func (s *Jobs) resize(j *job, size int) {
	if j.state == gathering && j.position.Order == 0 && j.size != size {
		j.size = size
		s.gather(j)
	}
}

// gather gives a job its position once it is complete.
func (s *Jobs) gather(j *job) {
	if j.state != gathering || j.position.Order > 0 || len(j.created) < j.size {
		return
	}
	s.complete(j, j.size)
	if !s.settled {
		return
	}
	if j.isBound() {
		j.state = started
		return
	}
	s.enter(j)
}

// complete gives a job its position, when so many of its processes were there.
func (s *Jobs) complete(j *job, size int) {
	times := make([]time.Time, 0, len(j.created))
	for _, t := range j.created {
		times = append(times, t)
	}
	slices.SortFunc(times, time.Time.Compare)
	s.order++
	j.position.Complete, j.position.Order = times[size-1], s.order
	if j.refused {
		j.refused = false
		s.gathered = append(s.gathered, j.id)
	}
}

// enter puts a job at the end of the queue of its priority.
func (s *Jobs) enter(j *job) {
	j.state = waiting
	if err := s.queue(j.position.Priority).Push(j.id, admission.Need{Nodes: 1}); err != nil {
		panic("policy: " + err.Error()) // it is in no queue, and needs a node
	}
}

// mend puts a broken gang before all others, and takes it out of the queue when it
// is no longer broken.
func (s *Jobs) mend(j *job) {
	if j.state != started {
		return
	}
	q := s.queue(j.position.Priority)
	_, queued := q.Skips(j.id)
	switch {
	case j.broken() && !queued:
		if err := q.PutBack(j.id, admission.Need{Nodes: 1}, s.maxSkips); err != nil {
			panic("policy: " + err.Error())
		}
	case !j.broken() && queued:
		q.Remove(j.id)
	}
}

// leave takes a job out of the queue, if it is there, without skipping anybody.
func (s *Jobs) leave(j *job) { _ = s.queue(j.position.Priority).Remove(j.id) }

// queue returns the queue of a priority. There are as many as priorities had jobs
// at the same time.
func (s *Jobs) queue(priority int32) *admission.Queue[ID] {
	find := func() (int, bool) {
		return slices.BinarySearchFunc(s.queues, priority, func(q queue, p int32) int { return cmp.Compare(p, q.priority) })
	}
	i, ok := find()
	if !ok {
		s.queues = slices.DeleteFunc(s.queues, func(q queue) bool { return q.waiting.Len() == 0 })
		i, _ = find()
		maxSkips := s.maxSkips
		if maxSkips == 0 {
			maxSkips = admission.FCFS
		}
		q, err := admission.NewQueue[ID](admission.QueueConfig{MaxSkips: maxSkips})
		if err != nil {
			panic("policy: " + err.Error()) // NewJobs tried
		}
		s.queues = slices.Insert(s.queues, i, queue{priority, q})
	}
	return s.queues[i].waiting
}

// Remove says that a process is gone. If it was the last of a started job that was
// placed, others of that job are another run of it.
func (s *Jobs) Remove(uid UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(uid)
}

func (s *Jobs) remove(uid UID) {
	j := s.of[uid]
	if j == nil {
		return
	}
	delete(s.of, uid)
	delete(j.created, uid)
	delete(j.placed, uid)
	switch {
	case len(j.created) == 0:
		s.leave(j)
		delete(s.jobs, j.id)
	case j.state != started && len(j.created) < j.size:
		s.leave(j)
		j.state, j.position.Order = gathering, 0
	case j.state == started && len(j.placed) == 0 && s.settled:
		s.leave(j)
		j.state, j.position.Order, j.hopeless = gathering, 0, false
		s.gather(j)
	default:
		s.mend(j)
	}
}

// holds tells whether nobody of lower position starts before the job.
func (s *Jobs) holds(id ID) bool {
	j := s.jobs[id]
	if j == nil {
		return false
	}
	head, skips, ok := first(s.queue(j.position.Priority))
	return ok && head == id && skips >= s.maxSkips
}

// Lifted returns the jobs that [Jobs.May] refused and that nobody holds any more, and
// those that it or [Jobs.Gathers] refused while they gathered and that are complete,
// in no order. Each is returned once. O(h log n) in h jobs that hold others, of which
// there is at most one for each priority, and O(p log n) in p priorities for each job
// that was held by one that holds no more.
func (s *Jobs) Lifted() []ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	lifted := s.gathered
	s.gathered = nil
	var free []ID
	for holder, held := range s.held {
		if s.holds(holder) {
			continue
		}
		for id := range held {
			free = append(free, id)
		}
		delete(s.held, holder)
	}
	for _, id := range free {
		if j := s.jobs[id]; j != nil {
			if _, ok := s.may(j); ok { // and the next holder does not hold it
				lifted = append(lifted, id)
			}
		}
	}
	return lifted
}

func first(q *admission.Queue[ID]) (ID, int, bool) {
	for id := range q.All() {
		skips, _ := q.Skips(id)
		return id, skips, true
	}
	return ID{}, 0, false
}

// Refusal is why a job may not be tried.
type Refusal struct {
	// Holder is the job that has been passed over as often as it may be, or that is
	// broken, and starts before the one that asks. It is zero if the job is refused
	// because it gathers.
	Holder ID
	Broken bool // Holder is a gang that lost a process
	Skips  int  // how often the holder has been passed over

	Known, Size int // processes known and needed, where the job gathers
}

// String explains the refusal to the user of the job.
func (r Refusal) String() string {
	switch {
	case r.Holder == ID{}:
		return fmt.Sprintf("%d of the %d pods of the gang exist", r.Known, r.Size)
	case r.Broken:
		return fmt.Sprintf("waits for %v, of which a part runs and the rest comes first", r.Holder)
	default:
		return fmt.Sprintf("waits for %v, which was passed over %d times and starts first", r.Holder, r.Skips)
	}
}

// May tells whether a process of the job may be tried now, and if not, why; a job
// that is refused for another will be among those of [Jobs.Lifted]. A job that has
// started may if it lacks a process that it needs; for more than it needs it is as
// others are. A job that is not known may. O(p log n) in p priorities.
func (s *Jobs) May(id ID) (Refusal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return Refusal{}, true
	}
	return s.may(j)
}

func (s *Jobs) may(j *job) (Refusal, bool) {
	if j.state == started && len(j.placed) < j.size {
		return Refusal{}, true
	}
	if refusal, gathers := s.gathers(j); gathers {
		return refusal, false
	}
	for _, q := range s.queues {
		head, skips, ok := first(q.waiting)
		if !ok {
			continue
		}
		broken := s.jobs[head].state == started
		if q.priority < j.position.Priority && !broken {
			continue
		}
		if head != j.id && skips >= s.maxSkips {
			if s.held[head] == nil {
				s.held[head] = map[ID]bool{}
			}
			s.held[head][j.id] = true
			return Refusal{Holder: head, Broken: broken, Skips: skips}, false
		}
	}
	return Refusal{}, true
}

// Gathers tells whether a job is refused because it lacks processes, before
// anything else is asked: as [Jobs.May] does, but other jobs refuse it nothing.
// O(1).
func (s *Jobs) Gathers(id ID) (Refusal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return Refusal{}, false
	}
	return s.gathers(j)
}

func (s *Jobs) gathers(j *job) (Refusal, bool) {
	if j.state != gathering || j.position.Order > 0 {
		return Refusal{}, false
	}
	j.refused = true
	return Refusal{Known: len(j.created), Size: j.size}, true
}

// Place says that a process got a node, and tells whether the job has started by
// that: all that it needs are placed, for the first time. Whoever is ahead of it in
// the queue has then been skipped. A process that is not known starts nothing.
func (s *Jobs) Place(uid UID) (started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.of[uid]
	if j == nil || j.placed[uid] != 0 {
		return false
	}
	return s.place(j, uid)
}

func (s *Jobs) place(j *job, uid UID) bool {
	j.placed[uid] = promised
	if j.state == started {
		if len(j.placed) > j.size { // it passes others like one of its own
			s.pass(j)
		}
		s.mend(j)
		return false
	}
	if len(j.placed) < j.size || j.position.Order == 0 || !s.settled {
		return false
	}
	s.pass(j)
	j.state = started
	return true
}

// pass takes a job out of the queue, and skips whoever is ahead of it.
func (s *Jobs) pass(j *job) {
	for _, q := range s.queues {
		if q.priority < j.position.Priority {
			break
		}
		if _, queued := q.waiting.Skips(j.id); !queued {
			q.waiting.Arrive(j.id, admission.Need{Nodes: 1}, func(ID, admission.Need) bool { return true })
		} else {
			_, j.skips, _ = q.waiting.Next(nil, func(id ID, _ admission.Need) bool { return id == j.id })
		}
		// A job that came to hold it while it was being placed keeps it in the queue.
		// It has its nodes all the same.
		q.waiting.Remove(j.id)
	}
}

// Unplace takes a Place back: the process did not get its node. If the job had
// started and nothing of it is left in place, it waits again, before all others and
// skipped as often as the next one at least, as nobody that may not pass the next one
// may pass it; if a part is left it is broken.
func (s *Jobs) Unplace(uid UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.of[uid]
	if j == nil || j.placed[uid] == 0 {
		return
	}
	delete(j.placed, uid)
	if j.state == started && len(j.placed) == 0 {
		s.leave(j)
		j.state = waiting
		q, skips := s.queue(j.position.Priority), j.skips
		if _, n, ok := first(q); ok {
			skips = max(skips, min(n, s.maxSkips))
		}
		if err := q.PutBack(j.id, admission.Need{Nodes: 1}, skips); err != nil {
			panic("policy: " + err.Error())
		}
		return
	}
	s.mend(j)
}

// SetAside takes a job out of the queue that would not start on an empty cluster
// either, so that it holds nobody. It may still be tried. So it does with a broken
// gang of which the rest fits nowhere.
func (s *Jobs) SetAside(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	switch {
	case j == nil:
	case j.state == waiting:
		s.leave(j)
		j.state = aside
	case j.broken():
		j.hopeless = true
		s.mend(j)
	}
}

// Return puts a job that was set aside at the end of the queue, and a broken gang
// before all others again. It does nothing to other jobs.
func (s *Jobs) Return(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch j := s.jobs[id]; {
	case j == nil:
	case j.state == aside:
		s.enter(j)
	case j.hopeless:
		j.hopeless = false
		s.mend(j)
	}
}

// Position returns where the job of a process stands, for the order in which the
// scheduler takes processes. O(1).
func (s *Jobs) Position(uid UID) Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.of[uid]; j != nil {
		return j.position
	}
	return Position{}
}

// Count returns how many processes of a job are known, and how many of them are
// placed. O(1).
func (s *Jobs) Count(id ID) (known, placed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[id]; j != nil {
		return len(j.created), len(j.placed)
	}
	return 0, 0
}

// Started tells whether a job has started. O(1).
func (s *Jobs) Started(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	return j != nil && j.state == started
}

// Pending appends the processes of a job that are not placed, in order of their
// UIDs. O(m log m) in the processes of the job.
func (s *Jobs) Pending(dst []UID, id ID) []UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return dst
	}
	begin := len(dst)
	for uid := range j.created {
		if j.placed[uid] == 0 {
			dst = append(dst, uid)
		}
	}
	slices.SortFunc(dst[begin:], func(a, b UID) int { return strings.Compare(string(a), string(b)) })
	return dst
}

// Skips returns how often a job that waits has been passed over, and whether it
// waits.
func (s *Jobs) Skips(id ID) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return 0, false
	}
	return s.queue(j.position.Priority).Skips(id)
}

// Waiting returns how many jobs wait, and the largest number of times that the
// first of a priority has been passed over. O(p log n) in p priorities.
func (s *Jobs) Waiting() (jobs, skips int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		jobs += q.waiting.Len()
		if _, n, ok := first(q.waiting); ok {
			skips = max(skips, n)
		}
	}
	return jobs, skips
}
