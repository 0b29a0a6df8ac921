package backfill

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Planner is the stateful form of [Plan]: it keeps the queue, the running jobs,
// the reservations and the profile between passes, so that a pass costs about
// what changed since the last one. Jobs are known by IDs that the caller picks.
//
// The caller reports what happens ([Planner.Submit], [Planner.Finish] and so
// on) and then asks which jobs start ([Planner.AppendStarts]). One pass may
// follow any number of reports. Where a reservation comes due while nothing
// else happens ([Planner.Next] says when) there must be a pass at that instant.
//
// A Planner must not be used concurrently.
type Planner[ID comparable] struct {
	machine Machine
	now     time.Duration
	profile profile
	jobs    []job[ID] // slab
	vacant  []int32   // unused places of the slab
	places  map[ID]int32

	// queue holds the waiting jobs in order, as places in the slab, or none where
	// a job left. Before held they have reservations (or cannot be foreseen to
	// start); from held to fresh they are in the index; from fresh on no pass has
	// seen them.
	queue       []int32
	head        int // all before left
	held, fresh int
	gone        int // jobs that left
	holders     int // jobs before held
	due         int // of them, those whose start has come
	index       index

	// What the next pass has to look at again.
	compress bool          // a job ended, left or was relaxed: holders may move
	within   time.Duration // but not to a start from here on
	freed    bool          // indexed jobs may start that could not in the last pass
	late     bool          // a reservation passed without a pass
	extended bool          // planned ends moved: reservations may be broken
	most     []int64       // scratch, see move
	marks    []int64       // scratch, see mark
	marked   bool
}

const (
	none   = -1 // no position in the queue, no job at a position
	unused = -2 // position of a place in the slab that is vacant
)

type job[ID comparable] struct {
	id       ID
	need     []int64
	estimate time.Duration
	start    time.Duration // reserved, Forever if it cannot be foreseen; the planned end if running
	position int           // in the queue, none if running
	relaxed  bool
}

// NewPlanner returns a planner for an empty machine whose clock stands at the
// earliest possible instant.
func NewPlanner[ID comparable](m Machine) (*Planner[ID], error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	m.Capacity, m.Relaxed = slices.Clone(m.Capacity), slices.Clone(m.Relaxed)
	p := &Planner[ID]{machine: m, now: -Forever, profile: newProfile(m), places: make(map[ID]int32)}
	p.profile.now = p.now
	p.index.reset(len(m.Capacity)+1, 1)
	return p, nil
}

// Submit puts a job at the end of the queue. O(1), and as much memory as the
// job's need. Errors: [ErrDuplicate] and those of [Plan].
func (p *Planner[ID]) Submit(id ID, j Job) error {
	if err := p.machine.checkJob(j); err != nil {
		return fmt.Errorf("submit %v: %w", id, err)
	}
	if _, ok := p.places[id]; ok {
		return fmt.Errorf("submit %v: %w", id, ErrDuplicate)
	}
	var place int32
	if n := len(p.vacant); n > 0 {
		place, p.vacant = p.vacant[n-1], p.vacant[:n-1]
	} else {
		place = int32(len(p.jobs))
		p.jobs = append(p.jobs, job[ID]{})
	}
	e := &p.jobs[place]
	*e = job[ID]{id: id, need: append(e.need[:0], j.Need...), estimate: j.Estimate, relaxed: j.Relaxed, start: Forever, position: len(p.queue)}
	p.places[id] = place
	p.queue = append(p.queue, place)
	return nil
}

// Finish takes a running job off the machine at now, whether before its planned
// end, at it, or after.
func (p *Planner[ID]) Finish(now time.Duration, id ID) error {
	e, err := p.find(now, id, true)
	if err != nil {
		return fmt.Errorf("finish %v: %w", id, err)
	}
	p.advance(now)
	p.profile.take(now, e.start, e.need, -1, false, false)
	p.release(e.start)
	p.forget(e)
	return nil
}

// Cancel takes a waiting job out of the queue at now.
func (p *Planner[ID]) Cancel(now time.Duration, id ID) error {
	e, err := p.find(now, id, false)
	if err != nil {
		return fmt.Errorf("cancel %v: %w", id, err)
	}
	p.advance(now)
	if e.position < p.held {
		p.unreserve(e)
	}
	p.leave(e)
	p.release(Forever)
	p.forget(e)
	return nil
}

// Relax gives a waiting job the relaxed limit from now on.
func (p *Planner[ID]) Relax(now time.Duration, id ID) error {
	e, err := p.find(now, id, false)
	if err != nil {
		return fmt.Errorf("relax %v: %w", id, err)
	}
	p.advance(now)
	if e.position < p.held {
		p.unreserve(e)
		e.relaxed = true
		p.reserve(e, e.start)
	} else if e.relaxed = true; e.position < p.fresh {
		p.enter(e)
	}
	p.release(Forever)
	return nil
}

// Extend changes the planned end of a running job. A job that runs on past its
// planned end must be extended before the pass at that instant, or the plan
// takes it for gone. If a later end makes it impossible to keep some
// reservation, all are made anew in queue order, and starts may be later than
// promised.
func (p *Planner[ID]) Extend(now time.Duration, id ID, end time.Duration) error {
	e, err := p.find(now, id, true)
	if err != nil {
		return fmt.Errorf("extend %v: %w", id, err)
	}
	if end < now {
		return fmt.Errorf("extend %v to %v at %v: %w", id, end, now, ErrTime)
	}
	p.advance(now)
	p.profile.take(now, max(e.start, now), e.need, -1, false, false)
	p.profile.take(now, end, e.need, 1, false, false)
	p.extended = true
	if end < e.start {
		p.release(e.start)
	}
	e.start = end
	return nil
}

// Next returns the earliest reservation: unless something happens before, the
// next pass is due at that instant. It returns false if there is none. O(rows
// before it).
func (p *Planner[ID]) Next() (time.Duration, bool) {
	if p.due > 0 {
		return p.now, true
	}
	return p.profile.nextStart()
}

// AppendStarts makes a scheduling pass at now: it appends to dst the jobs that
// start now, holders of reservations first and both in queue order, and takes
// them as running until now plus their estimates. Error: an instant before the
// last one.
//
// A pass after submissions alone costs O(log n) for each new job, plus a search
// of the profile for each reservation made. A pass after something was given
// back searches the profile for each holder of a reservation, and the index for
// each job that starts.
func (p *Planner[ID]) AppendStarts(dst []ID, now time.Duration) ([]ID, error) {
	if err := p.Reserve(now); err != nil {
		return dst, err
	}
	for p.due > 0 {
		for i := p.head; p.due > 0; i++ {
			if e := p.waiting(i); e != nil && e.start <= now {
				p.due--
				p.profile.begin(e.relaxed)
				p.leave(e)
				e.start = later(now, e.estimate)
				dst = append(dst, e.id)
			}
		}
		p.fill()
	}
	dst = p.backfill(dst)
	p.tidy()
	return dst, nil
}

// Reserve makes the first half of a pass: it compresses the schedule if that is
// due, and makes reservations for the jobs that are to hold one, so that a
// promise is known before anything starts. [Planner.AppendStarts] does it too;
// call Reserve where several events of one instant are planned for one by one
// and jobs start only after the last of them.
func (p *Planner[ID]) Reserve(now time.Duration) error {
	if now < p.now {
		return fmt.Errorf("pass at %v after one at %v: %w", now, p.now, ErrTime)
	}
	p.advance(now)
	if p.profile.bends {
		p.retry()
	}
	if p.late || p.extended && p.broken() {
		p.renew()
	} else if p.compress {
		if p.profile.bends { // a limit also loosens where a start has come
			p.within = Forever
		}
		if p.within > now {
			p.move()
		}
	}
	p.late, p.extended, p.compress = false, false, false
	p.fill()
	return nil
}

// Reserved returns the start that is promised to a waiting job, false if the job
// does not wait, or holds no reservation. O(1).
func (p *Planner[ID]) Reserved(id ID) (time.Duration, bool) {
	place, ok := p.places[id]
	if !ok || p.jobs[place].position < 0 || p.jobs[place].start == Forever {
		return 0, false
	}
	return p.jobs[place].start, true
}

// State returns what a plan would be made from now, for [Explain], and the IDs
// of the queued jobs. Nothing of it is shared with the planner. O(n).
func (p *Planner[ID]) State() (State, []ID) {
	s := State{Machine: p.machine, Now: p.now, Compress: p.compress}
	s.Capacity, s.Relaxed = slices.Clone(s.Capacity), slices.Clone(s.Relaxed)
	for i := range p.jobs {
		if e := &p.jobs[i]; e.position == none {
			s.Running = append(s.Running, Running{Need: slices.Clone(e.need), End: e.start})
		}
	}
	var ids []ID
	for i := range p.queue {
		if e := p.waiting(i); e != nil {
			s.Queue = append(s.Queue, Job{Need: slices.Clone(e.need), Estimate: e.estimate, Relaxed: e.relaxed})
			s.Reserved = append(s.Reserved, e.start)
			ids = append(ids, e.id)
		}
	}
	return s, ids
}

// Profile yields the instants from the planner's clock on at which the free
// amounts change, with what running jobs and reservations leave free from there
// on, per resource. The slice is valid until the next one; the planner must not
// be used meanwhile.
func (p *Planner[ID]) Profile() iter.Seq2[time.Duration, []int64] { return p.profile.all }

func (p *Planner[ID]) find(now time.Duration, id ID, running bool) (*job[ID], error) {
	place, ok := p.places[id]
	if !ok || (p.jobs[place].position == none) != running {
		return nil, ErrUnknown
	}
	if now < p.now {
		return nil, fmt.Errorf("at %v after %v: %w", now, p.now, ErrTime)
	}
	return &p.jobs[place], nil
}

// waiting returns the job at a position of the queue, nil if it left.
func (p *Planner[ID]) waiting(position int) *job[ID] {
	if place := p.queue[position]; place != none {
		return &p.jobs[place]
	}
	return nil
}

// advance moves the clock.
func (p *Planner[ID]) advance(now time.Duration) {
	if now == p.now {
		return
	}
	if p.due > 0 { // of an instant that is past now
		p.late = true
	}
	p.now = now
	rows, starts, late := p.profile.advance(now)
	p.freed = p.freed || rows > 0
	p.due += starts
	p.late = p.late || late
}

// release notes that something was given back, in the part of the profile
// before end.
func (p *Planner[ID]) release(end time.Duration) {
	p.compress, p.freed = true, true
	p.within = max(p.within, end)
}

// leave takes a job out of the queue.
func (p *Planner[ID]) leave(e *job[ID]) {
	switch i := e.position; {
	case i < p.held:
		p.holders--
	case i < p.fresh:
		p.index.clear(i)
	}
	p.queue[e.position] = none
	e.position = none
	for p.gone++; p.head < len(p.queue) && p.queue[p.head] == none; p.head++ {
	}
}

// forget removes a job that neither waits nor runs.
func (p *Planner[ID]) forget(e *job[ID]) {
	place := p.places[e.id]
	delete(p.places, e.id)
	*e = job[ID]{need: e.need, position: unused}
	p.vacant = append(p.vacant, place)
}

// reserve gives a holder a start.
func (p *Planner[ID]) reserve(e *job[ID], start time.Duration) {
	if e.start = start; start == Forever {
		return
	}
	if start <= p.now {
		p.due++
	}
	p.profile.take(start, later(start, e.estimate), e.need, 1, true, e.relaxed)
}

// unreserve takes it back.
func (p *Planner[ID]) unreserve(e *job[ID]) {
	if e.start == Forever {
		return
	}
	if e.start <= p.now {
		p.due--
	}
	p.profile.take(e.start, later(e.start, e.estimate), e.need, -1, true, e.relaxed)
}

// fill gives reservations to the next jobs of the queue until enough hold one.
func (p *Planner[ID]) fill() {
	for ; p.held < len(p.queue) && p.holders < int(p.machine.Depth); p.held++ {
		e := p.waiting(p.held)
		if e == nil {
			continue
		}
		if p.held < p.fresh {
			p.index.clear(p.held)
		}
		p.holders++
		p.reserve(e, p.profile.earliest(e.need, e.estimate, e.relaxed, Forever, Forever))
	}
	p.fresh = max(p.fresh, p.held)
}

// retry lets go the last holders that cannot be foreseen to start: limits may
// have loosened since others started.
func (p *Planner[ID]) retry() {
	for i := p.held - 1; i >= p.head; i-- {
		if e := p.waiting(i); e != nil {
			if e.start < Forever {
				return
			}
			p.held = i
			p.holders--
		}
	}
}

// move compresses the schedule. Since its last turn a job can only have got an
// earlier start by what was given back since, which lies before p.within, so
// starts from there on need no search, and a job that needs more than is ever
// free before needs none at all. What the moves themselves give back is for the
// jobs behind, and for the next time.
func (p *Planner[ID]) move() {
	within, moved := p.within, -Forever
	p.most = p.profile.most(p.most[:0], within)
	for i := p.head; i < p.held; i++ {
		e := p.waiting(i)
		if e == nil || e.start <= p.now || !p.profile.fits(p.most, e.need, e.relaxed) {
			continue
		}
		start := p.profile.earliest(e.need, e.estimate, e.relaxed, e.start, within)
		if start == e.start {
			continue
		}
		moved = max(moved, later(e.start, e.estimate))
		p.unreserve(e)
		p.reserve(e, start)
		if moved > within {
			within = moved
			p.most = p.profile.most(p.most[:0], within)
		} else {
			for k, n := range e.need { // at the most
				p.most[k] += min(n, p.machine.Capacity[k]-p.most[k])
			}
		}
	}
	p.within = moved
}

// broken says whether some reservation cannot be kept because its holder would
// exceed its limit.
func (p *Planner[ID]) broken() bool {
	p.marks = p.profile.appendMarks(p.marks[:0])
	for i, v := range p.marks {
		if i%(len(p.profile.free)+1) > 0 && v < 0 {
			return true
		}
	}
	nothing := make([]int64, len(p.profile.free))
	return p.due > 0 && !p.profile.fits(p.profile.free, nothing, p.profile.strict == 0)
}

// renew makes all reservations anew.
func (p *Planner[ID]) renew() {
	for i := p.head; i < p.held; i++ {
		if e := p.waiting(i); e != nil {
			p.unreserve(e)
		}
	}
	for i := p.head; i < p.held; i++ {
		if e := p.waiting(i); e != nil {
			p.reserve(e, p.profile.earliest(e.need, e.estimate, e.relaxed, Forever, Forever))
		}
	}
	p.within, p.freed = 0, true
}

// start starts a job that has no reservation.
func (p *Planner[ID]) start(dst []ID, e *job[ID]) []ID {
	p.leave(e)
	e.start = later(p.now, e.estimate)
	p.profile.take(p.now, e.start, e.need, 1, false, false)
	return append(dst, e.id)
}

// backfill starts jobs that have no reservation and disturb none.
func (p *Planner[ID]) backfill(dst []ID) []ID {
	free := p.profile.free
	if p.machine.Depth == FCFS {
		for p.head < len(p.queue) && p.profile.fits(free, p.waiting(p.head).need, p.waiting(p.head).relaxed) {
			dst = p.start(dst, p.waiting(p.head))
		}
		return dst
	}
	p.marked = false
	if p.freed {
		i := p.index.next(p.held, free, nil, int64(Forever))
		if i >= 0 {
			p.mark()
		}
		for i >= 0 {
			window, extra := int64(Forever), []int64(nil)
			if len(p.marks) > 0 {
				window, extra = p.marks[0]-int64(p.now), p.marks[1:1+len(free)]
			}
			if i = p.index.next(i, free, extra, window); i < 0 {
				break
			}
			if e := p.waiting(i); p.undisturbing(e) {
				dst = p.start(dst, e)
			}
			i++
		}
	}
	for ; p.fresh < len(p.queue); p.fresh++ {
		e := p.waiting(p.fresh)
		if e == nil {
			continue
		}
		if p.profile.fits(free, e.need, e.relaxed) && p.undisturbing(e) {
			dst = p.start(dst, e)
		} else {
			p.enter(e)
		}
	}
	p.freed = false
	return dst
}

// mark fills p.marks, once a pass: rows of the instant at which reserved jobs
// start and of what their limits leave there.
func (p *Planner[ID]) mark() {
	if !p.marked {
		p.marks, p.marked = p.profile.appendMarks(p.marks[:0]), true
	}
}

// undisturbing says whether a job that fits now would leave all reserved starts
// as they are, and if so takes its share there, for it is to start.
func (p *Planner[ID]) undisturbing(e *job[ID]) bool {
	p.mark()
	end, w := int64(later(p.now, e.estimate)), 1+len(e.need)
	n := 0
	for ; n < len(p.marks) && p.marks[n] < end; n += w {
		for i, v := range e.need {
			if v > p.marks[n+1+i] {
				return false
			}
		}
	}
	for n -= w; n >= 0; n -= w {
		for i, v := range e.need {
			p.marks[n+1+i] -= v
		}
	}
	return true
}

// enter puts a job into the index.
func (p *Planner[ID]) enter(e *job[ID]) {
	if e.position >= p.index.size {
		p.reindex()
	}
	keys := p.index.leaf(e.position)
	for i, n := range e.need {
		if keys[i] = n; e.relaxed {
			keys[i] -= p.profile.over[i]
		}
	}
	keys[len(e.need)] = min(int64(e.estimate), empty-1)
	p.index.set(e.position)
}

// reindex makes the index anew, with room for as many jobs again.
func (p *Planner[ID]) reindex() {
	p.index.reset(len(p.profile.free)+1, 2*len(p.queue))
	for i := p.held; i < p.fresh; i++ {
		if e := p.waiting(i); e != nil {
			p.enter(e)
		}
	}
}

// tidy closes the gaps in the queue once they are more than half of it.
func (p *Planner[ID]) tidy() {
	if p.gone < 64 || 2*p.gone < len(p.queue) {
		return
	}
	n := 0
	held := p.held
	for i, place := range p.queue {
		if i == held {
			p.held = n
		}
		if place != none {
			p.queue[n], p.jobs[place].position = place, n
			n++
		}
	}
	if held == len(p.queue) {
		p.held = n
	}
	p.queue, p.fresh, p.head, p.gone = p.queue[:n], n, 0, 0
	if p.held < n {
		p.reindex()
	}
}
