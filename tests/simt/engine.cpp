// engine.cpp: the other side of simt.h: fibres and their scheduler, device memory and its shadow, what orders accesses.
//
// Sections: memory, clocks (what happens before what), findings, accesses, fibres, barriers, warps, atomics, the scheduler, the calls
// that instrumented code makes. It must be compiled without -fsanitize=thread: here is where those calls end.
#include "simt.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <set>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

extern "C" char __executable_start, end; // the image of this program, as the linker lays it

namespace simt {

uint3 thread_index, block_index;
dim3 block_size, grid_size;

namespace {

// ---- memory ----------------------------------------------------------------------------------------------------------------
//
// One address range holds all device and shared memory; beside it stand a state for each byte and, for races, a cell for each word.
// Addresses are given out upwards and come again only when the range is used up, so that a freed buffer stays recognisable.

constexpr size_t ARENA = size_t(1) << 31, ALIGN = 256, REDZONE = 256;
enum : unsigned char { FREE = 0, UNWRITTEN = 1, WRITTEN = 2 };

struct mark { // of one access: who, when, where
    uint32_t thread, clock, place;
    uint8_t bytes; // which of the word's four
    bool atomic;
};
struct cell { mark write, read[2]; };

struct arena {
    char *memory;
    unsigned char *state;
    cell *cells;
    std::map<size_t, size_t> live; // offset, bytes
    size_t next = ALIGN, used = 0, limit = size_t(1) << 30;

    arena()
    {
        memory = static_cast<char *>(reserve(ARENA));
        state = static_cast<unsigned char *>(reserve(ARENA));
        cells = static_cast<cell *>(reserve(ARENA / 4 * sizeof(cell)));
    }
    static void *reserve(size_t bytes)
    {
        void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) { std::perror("simt: address space"); std::abort(); }
        return p;
    }
    bool holds(const void *p) const { return size_t(static_cast<const char *>(p) - memory) < ARENA; }
    size_t offset(const void *p) const { return size_t(static_cast<const char *>(p) - memory); }

    // A place for `bytes` behind a red zone, at or after `from`; 0 where there is none.
    size_t gap(size_t from, size_t bytes) const
    {
        size_t at = from;
        auto next_live = live.lower_bound(from);
        if (next_live != live.begin()) {
            auto before = std::prev(next_live);
            at = std::max(at, round_up(before->first + before->second + REDZONE));
        }
        for (; next_live != live.end(); ++next_live) {
            if (at + bytes + REDZONE <= next_live->first) return at;
            at = round_up(next_live->first + next_live->second + REDZONE);
        }
        return at + bytes + REDZONE <= ARENA ? at : 0;
    }
    static size_t round_up(size_t x) { return (x + ALIGN - 1) / ALIGN * ALIGN; }

    void *allocate(size_t bytes)
    {
        if (bytes > limit || used > limit - bytes) return nullptr;
        size_t at = gap(next, bytes);
        if (!at) at = gap(ALIGN, bytes);
        if (!at) return nullptr;
        live[at] = bytes;
        used += bytes;
        next = round_up(at + bytes + REDZONE);
        std::memset(state + at, UNWRITTEN, bytes);
        std::memset(memory + at, 0xA5, bytes); // what nobody wrote must not look like zero
        return memory + at;
    }
    bool release(void *p)
    {
        auto found = holds(p) ? live.find(offset(p)) : live.end();
        if (found == live.end()) return false;
        std::memset(state + found->first, FREE, found->second);
        clear_cells(found->first, found->second);
        used -= found->second;
        live.erase(found);
        return true;
    }
    void clear_cells(size_t at, size_t bytes)
    {
        char *first = reinterpret_cast<char *>(cells + at / 4), *last = reinterpret_cast<char *>(cells + (at + bytes + 3) / 4);
        char *page = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(first) + 4095) & ~uintptr_t(4095));
        char *page_end = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(last) & ~uintptr_t(4095));
        if (page >= page_end) { std::memset(static_cast<void *>(first), 0, size_t(last - first)); return; }
        std::memset(static_cast<void *>(first), 0, size_t(page - first));
        madvise(page, size_t(page_end - page), MADV_DONTNEED); // reads as zero again
        std::memset(static_cast<void *>(page_end), 0, size_t(last - page_end));
    }
};
arena &device() { static arena a; return a; }

// ---- clocks ------------------------------------------------------------------------------------------------------------------
//
// Vector clocks over the threads of a launch (Lamport 1978; FastTrack, Flanagan and Freund, PLDI 2009, keeps one mark a word as we do):
// seen[u] is the clock of thread u up to which all that u did happens before what the holder does now.

using clocks = std::shared_ptr<const std::vector<uint32_t>>;

clocks join(const clocks &a, const clocks &b)
{
    if (!a || a == b) return b;
    if (!b) return a;
    auto both = std::make_shared<std::vector<uint32_t>>(*a);
    for (size_t i = 0; i < both->size(); i++) (*both)[i] = std::max((*both)[i], (*b)[i]);
    return both;
}

// ---- fibres --------------------------------------------------------------------------------------------------------------------

struct block_state;

enum class state { ready, spinning, barrier, warp, done };

struct fibre {
    void *stack_pointer = nullptr;
    char *stack = nullptr;
    block_state *home = nullptr;
    uint3 index = {};
    unsigned linear = 0; // in its block
    unsigned id = 0;     // in the launch
    state now = state::ready;
    const void *place = nullptr;     // of the call it waits in
    int what = 0, predicate = 0, result = 0;
    unsigned mask = 0;
    warp_payload *payload = nullptr;
    bool inside_atomic = false;
    unsigned reads_since_spin = 0;
    bool fruitless = false;          // since it last spun it has only looked
    uint32_t clock = 1;
    clocks seen, fenced, pending;
#if !defined(__x86_64__)
    ucontext_t context;
#endif
};

struct block_state {
    uint3 index = {};
    std::vector<fibre> threads;
    size_t alive = 0, waiting = 0;
    std::map<std::pair<std::string, int>, void *> shared;
    void *dynamic_shared = nullptr;
    std::vector<void *> owned;
};

constexpr size_t STACK = 64 * 1024, PAGE = 4096;

struct engine_state {
    options wanted;
    std::vector<finding> found;
    std::vector<const void *> found_places;
    std::set<std::pair<int, const void *>> known;
    uint64_t launched = 0, random = 0;
    // the launch that runs
    const char *kernel = "";
    void (*body)(const void *) = nullptr;
    const void *closure = nullptr;
    size_t closure_size = 0, dynamic_size = 0;
    fibre *current = nullptr;
    std::vector<fibre *> ready;
    std::vector<std::unique_ptr<block_state>> blocks;
    std::vector<char *> stacks;
    std::unordered_map<const volatile void *, clocks> released; // by each word through which threads synchronise
    bool cut = false, progress = false;
    uint32_t first_id = 1; // race marks of earlier launches have smaller ids: a launch waits for the one before
    unsigned threads = 0, until_preempt = 0;
    uint64_t since_switch = 0;
    void *scheduler_stack = nullptr;
#if !defined(__x86_64__)
    ucontext_t scheduler;
#endif
} E;

uint64_t draw() // splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
{
    uint64_t z = (E.random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Rounds so that one in `wanted.preempt` accesses gives way, at places that no loop can keep step with.
unsigned next_preempt() { return E.wanted.preempt ? 1 + unsigned(draw() % (2 * E.wanted.preempt)) : 0; }

#if defined(__x86_64__)
extern "C" void simt_switch(void **save, void *to);
asm(".text\n.globl simt_switch\n.type simt_switch,@function\nsimt_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
    ".size simt_switch,.-simt_switch\n.section .note.GNU-stack,\"\",@progbits\n.text\n");
void to_scheduler(fibre *f) { simt_switch(&f->stack_pointer, E.scheduler_stack); }
void to_fibre(fibre *f) { simt_switch(&E.scheduler_stack, f->stack_pointer); }
#else
void to_scheduler(fibre *f) { swapcontext(&f->context, &E.scheduler); }
void to_fibre(fibre *f) { swapcontext(&E.scheduler, &f->context); }
#endif

void give_way(state why)
{
    fibre *f = E.current;
    f->now = why;
    to_scheduler(f);
}

// ---- findings ------------------------------------------------------------------------------------------------------------------

void report(kind what, const fibre *f, const void *place, std::string text)
{
    if (!E.known.insert({int(what), place}).second) return;
    E.found.push_back({what, E.kernel, f ? f->home->index : uint3{}, f ? f->index : uint3{}, "", std::move(text)});
    E.found_places.push_back(place);
}

// What cannot go on is cut short: no fibre of this launch runs again.
void cut_short()
{
    E.cut = true;
    if (E.current) give_way(state::done);
}

std::string thread_name(unsigned id)
{
    char text[64];
    unsigned per_block = block_size.x * block_size.y * block_size.z;
    std::snprintf(text, sizeof text, "block %u, thread %u", id / per_block, id % per_block);
    return text;
}

std::string source_line(const void *place)
{
    Dl_info where;
    if (!place || !dladdr(place, &where) || !where.dli_fname) return "?";
    char command[64 + 2 * sizeof(void *)], line[4096];
    size_t address = size_t(static_cast<const char *>(place) - static_cast<const char *>(where.dli_fbase)) - 1; // of the call itself
    std::snprintf(command, sizeof command, "addr2line -s -i -e /proc/%d/exe 0x%zx 2>/dev/null", int(getpid()), address);
    std::string text;
    if (FILE *pipe = popen(command, "r")) { // innermost first: the first line that is not of the emulator itself
        while (std::fgets(line, sizeof line, pipe)) {
            std::string at(line);
            if (text.empty() && at.find("simt.h:") != 0 && at.find("launch.h:") != 0) text = at.substr(0, at.find_first_of(" \n"));
        }
        pclose(pipe);
    }
    return text.empty() || text[0] == '?' ? "?" : text;
}

// ---- accesses ------------------------------------------------------------------------------------------------------------------

bool ordered(const fibre *f, const mark &m)
{
    uint32_t other = m.thread - E.first_id;
    return m.thread < E.first_id || other == f->id || (f->seen && (*f->seen)[other] >= m.clock);
}

uint32_t short_place(const void *place) { return uint32_t(static_cast<const char *>(place) - &__executable_start); }

void race_with(const fibre *f, const mark &m, bool write, bool other_writes, const void *place)
{
    if (E.known.count({int(kind::race), place})) return;
    report(kind::race, f, place, std::string(write ? "writes" : "reads") + " what " + thread_name(m.thread - E.first_id) +
           (other_writes ? " writes at " : " reads at ") + source_line(&__executable_start + m.place) + ", and nothing orders the two");
}

// The cell of one word: is this access ordered after each earlier one that conflicts with it?
void check_word(fibre *f, size_t word, uint8_t bytes, bool write, bool atomic, const void *place)
{
    cell &c = device().cells[word];
    auto conflicts = [&](const mark &m) { return m.thread && (m.bytes & bytes) && !(m.atomic && atomic) && !ordered(f, m); };
    if (conflicts(c.write)) race_with(f, c.write, write, true, place);
    if (write)
        for (const mark &m : c.read)
            if (conflicts(m)) race_with(f, m, true, false, place);
    mark mine = {E.first_id + f->id, f->clock, short_place(place), bytes, atomic};
    if (write) c.write = mine;
    else if (!c.read[0].thread || c.read[0].thread == mine.thread || ordered(f, c.read[0])) c.read[0] = mine;
    else if (!c.read[1].thread || c.read[1].thread == mine.thread || ordered(f, c.read[1])) c.read[1] = mine;
    else c.read[draw() & 1] = mine; // two readers are kept; another seed keeps others
}

void check_races(fibre *f, size_t at, size_t size, bool write, bool atomic, const void *place)
{
    for (size_t first = at, last; first < at + size; first = last) {
        last = std::min(at + size, (first | 3) + 1);
        uint8_t bytes = uint8_t(((1u << (last - first)) - 1) << (first & 3));
        check_word(f, first / 4, bytes, write, atomic, place);
    }
}

void misaligned(const void *place)
{
    report(kind::misaligned, E.current, place, "an access whose address is no multiple of its type's alignment");
}

void access(const volatile void *where, size_t size, bool write, bool atomic, const void *place)
{
    fibre *f = E.current;
    if (!f || f->inside_atomic) return;
    const char *p = const_cast<const char *>(static_cast<const volatile char *>(where));
    if (size_t(p - f->stack) < STACK) return; // a local variable of its own
    arena &a = device();
    if (!a.holds(p)) {
        if (p >= &__executable_start && p < &end) return; // constants, and the indices
        if (size_t(p - static_cast<const char *>(E.closure)) < E.closure_size) return;
        report(kind::bounds, f, place, write ? "writes to memory of the host" : "reads memory of the host");
        cut_short();
        return;
    }
    size_t at = a.offset(p);
    if ((size & (size - 1)) == 0 && size <= 16 && at % size != 0) misaligned(place);
    bool bad = at + size > ARENA || std::memchr(a.state + at, FREE, size);
    if (bad) {
        report(kind::bounds, f, place, std::string(write ? "writes " : "reads ") + std::to_string(size) + " bytes outside every buffer");
        cut_short();
        return;
    }
    if (write) {
        std::memset(a.state + at, WRITTEN, size);
        E.progress = true;
        f->fruitless = false;
    }
    else {
        f->reads_since_spin++;
        if (std::memchr(a.state + at, UNWRITTEN, size)) report(kind::unwritten, f, place, "reads what nothing has written");
    }
    if (E.wanted.races) check_races(f, at, size, write, atomic, place);
    if (++E.since_switch > 200000000) {
        report(kind::hang, f, place, "polls without hu_spin(): no other thread can run");
        cut_short();
    }
    if (E.until_preempt && --E.until_preempt == 0) {
        E.until_preempt = next_preempt();
        give_way(state::ready);
    }
}

// ---- barriers ------------------------------------------------------------------------------------------------------------------

// All of these threads have met: what each did before happens before what each does next.
void meet(const std::vector<fibre *> &threads)
{
    if (!E.wanted.races) return;
    clocks all;
    for (fibre *f : threads) all = join(all, f->seen);
    auto both = all ? std::make_shared<std::vector<uint32_t>>(*all) : std::make_shared<std::vector<uint32_t>>(E.threads);
    for (fibre *f : threads) (*both)[f->id] = std::max((*both)[f->id], f->clock);
    for (fibre *f : threads) {
        f->seen = both;
        f->clock++;
    }
}

void wake(fibre *f)
{
    f->now = state::ready;
    if (f != E.current) E.ready.push_back(f); // the scheduler itself puts back the one that runs
}

void open_barrier(block_state &b)
{
    std::vector<fibre *> here;
    for (fibre &f : b.threads)
        if (f.now == state::barrier) here.push_back(&f);
    fibre *first = here.front();
    if (b.alive < b.threads.size())
        report(kind::barrier, first, first->place, std::to_string(b.threads.size() - b.alive) + " threads of the block have ended without reaching it");
    int count = 0;
    for (fibre *f : here) {
        if (f->place != first->place || f->what != first->what)
            report(kind::barrier, f, f->place, "other threads of the block wait at another __syncthreads, at " + source_line(first->place));
        count += f->predicate != 0;
    }
    int result = first->what == 1 ? count : first->what == 2 ? count == int(here.size()) : count > 0;
    meet(here);
    b.waiting = 0;
    for (fibre *f : here) {
        f->result = result;
        wake(f);
    }
}

// ---- warps -----------------------------------------------------------------------------------------------------------------------

fibre *lane_of(block_state &b, unsigned warp, unsigned l)
{
    size_t i = size_t(warp) * 32 + l;
    return i < b.threads.size() ? &b.threads[i] : nullptr;
}

template <class T, class F> uint64_t reduce(const std::vector<fibre *> &here, F both)
{
    T total;
    std::memcpy(&total, &here[0]->payload->value, sizeof total);
    for (size_t i = 1; i < here.size(); i++) {
        T next;
        std::memcpy(&next, &here[i]->payload->value, sizeof next);
        total = both(total, next);
    }
    uint64_t bits = 0;
    std::memcpy(&bits, &total, sizeof total);
    return bits;
}

uint64_t reduced(warp_op op, const std::vector<fibre *> &here)
{
    using u = uint32_t;
    switch (op) {
    case WARP_ADD: return reduce<u>(here, [](u a, u b) { return a + b; });
    case WARP_MIN: return reduce<u>(here, [](u a, u b) { return std::min(a, b); });
    case WARP_MAX: return reduce<u>(here, [](u a, u b) { return std::max(a, b); });
    case WARP_AND: return reduce<u>(here, [](u a, u b) { return a & b; });
    case WARP_OR: return reduce<u>(here, [](u a, u b) { return a | b; });
    case WARP_XOR: return reduce<u>(here, [](u a, u b) { return a ^ b; });
    case WARP_MIN_SIGNED: return reduce<int32_t>(here, [](int32_t a, int32_t b) { return std::min(a, b); });
    default: return reduce<int32_t>(here, [](int32_t a, int32_t b) { return std::max(a, b); });
    }
}

void finish_exchange(const std::vector<fibre *> &here)
{
    void *data[32] = {};
    for (fibre *f : here) data[f->linear % 32] = f->payload->data;
    here[0]->payload->complete(data);
}

// All lanes of the mask that still run are here: computes what each of them gets.
void finish_warp(const std::vector<fibre *> &here)
{
    warp_op op = here[0]->payload->op;
    uint64_t before[32];
    unsigned present = 0, votes = 0;
    for (fibre *f : here) {
        unsigned l = f->linear % 32;
        present |= 1u << l;
        before[l] = f->payload->value;
        if (f->payload->value) votes |= 1u << l;
    }
    if (op == WARP_EXCHANGE) finish_exchange(here);
    for (fibre *f : here) {
        warp_payload &p = *f->payload;
        unsigned same = 0;
        for (fibre *g : here) same |= unsigned(before[g->linear % 32] == before[f->linear % 32]) << (g->linear % 32);
        switch (op) {
        case WARP_SYNC: case WARP_EXCHANGE: break;
        case WARP_SHUFFLE:
            if (present >> p.source & 1) p.value = before[p.source];
            else report(kind::warp, f, f->place, "a shuffle reads lane " + std::to_string(p.source) + ", which takes no part in it");
            break;
        case WARP_BALLOT: p.value = votes; p.extra = present; break;
        case WARP_MATCH_ANY: p.value = same; break;
        case WARP_MATCH_ALL: p.extra = same == present; p.value = p.extra ? present : 0; break;
        default: break;
        }
    }
    if (op >= WARP_ADD && op <= WARP_MAX_SIGNED) {
        uint64_t total = reduced(op, here);
        for (fibre *f : here) f->payload->value = total;
    }
    meet(here);
    for (fibre *f : here) wake(f);
}

// Looks whether the operation that f waits in can complete.
void try_warp(fibre *f)
{
    block_state &b = *f->home;
    std::vector<fibre *> here;
    for (unsigned l = 0; l < 32; l++) {
        fibre *g = f->mask >> l & 1 ? lane_of(b, f->linear / 32, l) : nullptr;
        if (!g || g->now == state::done) continue;
        if (g->now != state::warp) return;
        if (!(g->mask >> (f->linear % 32) & 1)) return; // it waits for others, and may come here afterwards
        if (g->mask != f->mask || g->payload->op != f->payload->op) {
            report(kind::warp, f, f->place, "lane " + std::to_string(l) + " of the mask does another warp operation, at " + source_line(g->place));
            E.cut = true;
            return;
        }
        here.push_back(g);
    }
    if (!here.empty()) finish_warp(here);
}

// ---- the scheduler ---------------------------------------------------------------------------------------------------------------

void fibre_main()
{
    fibre *f = E.current;
    E.body(E.closure);
    f = E.current;
    give_way(state::done);
    (void)f;
    std::abort();
}

char *take_stack()
{
    if (!E.stacks.empty()) {
        char *s = E.stacks.back();
        E.stacks.pop_back();
        return s;
    }
    char *s = static_cast<char *>(mmap(nullptr, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (s == MAP_FAILED) { std::perror("simt: stack of a thread"); std::abort(); }
    mprotect(s, PAGE, PROT_NONE);
    return s + PAGE;
}

void prepare(fibre &f)
{
    f.stack = take_stack();
#if defined(__x86_64__)
    auto *top = reinterpret_cast<void **>(f.stack + STACK - 64);
    *--top = nullptr;                                 // fibre_main returns nowhere; keeps the stack as a call would leave it
    *--top = reinterpret_cast<void *>(fibre_main);
    for (int i = 0; i < 6; i++) *--top = nullptr;     // rbp rbx r12 r13 r14 r15
    f.stack_pointer = top;
#else
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack;
    f.context.uc_stack.ss_size = STACK;
    f.context.uc_link = nullptr;
    makecontext(&f.context, fibre_main, 0);
#endif
}

void start_block(unsigned number, dim3 grid, dim3 block)
{
    auto b = std::make_unique<block_state>();
    b->index = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    unsigned count = block.x * block.y * block.z;
    b->threads.resize(count);
    b->alive = count;
    for (unsigned i = 0; i < count; i++) {
        fibre &f = b->threads[i];
        f.home = b.get();
        f.index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
        f.linear = i;
        f.id = number * count + i;
        prepare(f);
        E.ready.push_back(&f);
    }
    E.blocks.push_back(std::move(b));
}

void end_block(block_state *b)
{
    for (void *p : b->owned) device().release(p);
    for (fibre &f : b->threads) E.stacks.push_back(f.stack);
    E.blocks.erase(std::find_if(E.blocks.begin(), E.blocks.end(), [b](const auto &x) { return x.get() == b; }));
}

void end_fibre(fibre *f)
{
    block_state &b = *f->home;
    b.alive--;
    if (b.waiting && b.waiting == b.alive) open_barrier(b);
    for (unsigned l = 0; l < 32; l++) { // its end may be what other lanes waited for
        fibre *g = lane_of(b, f->linear / 32, l);
        if (g && g->now == state::warp && (g->mask >> (f->linear % 32) & 1)) try_warp(g);
    }
    if (!b.alive) end_block(&b);
}

// No thread can run, but some have not ended.
void report_deadlock()
{
    for (const auto &b : E.blocks) {
        const fibre *at_barrier = nullptr, *at_warp = nullptr;
        for (const fibre &f : b->threads) {
            if (f.now == state::barrier && !at_barrier) at_barrier = &f;
            if (f.now == state::warp && !at_warp) at_warp = &f;
        }
        if (at_barrier)
            report(kind::barrier, at_barrier, at_barrier->place, std::to_string(b->waiting) + " of " + std::to_string(b->threads.size()) +
                   " threads wait here, and the others never come" + (at_warp ? ": one waits at " + source_line(at_warp->place) : ""));
        else if (at_warp) {
            char mask[16];
            std::snprintf(mask, sizeof mask, "%08x", at_warp->mask);
            report(kind::warp, at_warp, at_warp->place, std::string("waits for lanes of mask ") + mask + " that never come");
        }
    }
}

void report_hang()
{
    for (const auto &b : E.blocks)
        for (const fibre &f : b->threads)
            if (f.now == state::spinning || f.now == state::ready) {
                report(kind::hang, &f, f.place, "waits for what no running thread will do (of " + std::to_string(E.blocks.size()) + " blocks that run at a time)");
                return;
            }
}

void resume(fibre *f)
{
    E.current = f;
    E.since_switch = 0;
    thread_index = f->index;
    block_index = f->home->index;
    to_fibre(f);
    E.current = nullptr;
}

void loop(const std::vector<unsigned> &order, dim3 grid, dim3 block)
{
    size_t started = 0, idle = 0;
    while (!E.cut) {
        while (started < order.size() && E.blocks.size() < E.wanted.resident) start_block(order[started++], grid, block);
        if (E.blocks.empty()) return;
        if (E.ready.empty()) { report_deadlock(); return; }
        size_t pick = size_t(draw() % E.ready.size());
        fibre *f = E.ready[pick];
        E.ready[pick] = E.ready.back();
        E.ready.pop_back();
        E.progress = false;
        resume(f);
        if (E.cut) return;
        bool waits = f->now == state::spinning || (f->now == state::ready && f->fruitless && f->reads_since_spin < 64);
        if (f->now == state::spinning) {
            f->fruitless = true;
            f->reads_since_spin = 0;
        }
        idle = waits && !E.progress ? idle + 1 : 0;
        if (f->now == state::done) end_fibre(f);
        else if (f->now == state::spinning || f->now == state::ready) E.ready.push_back(f);
        if (idle > size_t(E.wanted.patience) * (E.ready.size() + 1)) { report_hang(); return; }
    }
}

} // namespace

// ---- what the header declares ----------------------------------------------------------------------------------------------------

const char *name_of(kind what)
{
    static const char *const names[] = {"bounds", "misaligned", "unwritten", "race", "barrier", "warp", "hang"};
    return names[int(what)];
}

void configure(const options &wanted)
{
    E.wanted = wanted;
    E.wanted.resident = std::max(1u, wanted.resident);
    E.random = wanted.seed * 0x9e3779b97f4a7c15u;
}

const std::vector<finding> &findings()
{
    for (size_t i = 0; i < E.found.size(); i++)
        if (E.found[i].where.empty()) E.found[i].where = source_line(E.found_places[i]);
    return E.found;
}

void clear_findings()
{
    E.found.clear();
    E.found_places.clear();
    E.known.clear();
}

std::string describe(const finding &f)
{
    char at[200];
    std::snprintf(at, sizeof at, ": block (%u,%u,%u) thread (%u,%u,%u): ", f.block.x, f.block.y, f.block.z, f.thread.x, f.thread.y, f.thread.z);
    return std::string(name_of(f.what)) + ": " + f.kernel + ": " + f.where + at + f.text;
}

uint64_t launches() { return E.launched; }

void run(const char *kernel, dim3 grid, dim3 block, size_t dynamic_shared, void (*body)(const void *), const void *closure, size_t closure_size)
{
    size_t threads = size_t(block.x) * block.y * block.z, blocks = size_t(grid.x) * grid.y * grid.z;
    E.kernel = kernel, E.body = body, E.closure = closure, E.closure_size = closure_size, E.dynamic_size = dynamic_shared;
    E.launched++;
    E.cut = false;
    E.ready.clear();
    E.released.clear();
    E.threads = unsigned(threads * blocks);
    E.until_preempt = next_preempt();
    block_size = block, grid_size = grid;
    std::vector<unsigned> order(blocks);
    for (size_t i = 0; i < blocks; i++) order[i] = unsigned(i);
    if (E.wanted.shuffle_blocks)
        for (size_t i = blocks; i > 1; i--) std::swap(order[i - 1], order[draw() % i]);
    loop(order, grid, block);
    while (!E.blocks.empty()) end_block(E.blocks.back().get()); // what was cut short
    E.first_id += E.threads;
}

void *allocate_device(size_t bytes) { return device().allocate(bytes); }
bool free_device(void *p) { return device().release(p); }
void mark_written(const void *p, size_t bytes) { std::memset(device().state + device().offset(p), WRITTEN, bytes); }
bool is_device(const void *p, size_t bytes)
{
    arena &a = device();
    return bytes == 0 || (a.holds(p) && a.offset(p) + bytes <= ARENA && !std::memchr(a.state + a.offset(p), FREE, bytes));
}
void set_device_memory(size_t bytes) { device().limit = std::min(bytes, ARENA / 2); }
size_t device_memory_left() { return device().limit - std::min(device().limit, device().used); }

void *shared_memory(const char *file, int line, size_t size, size_t align)
{
    (void)align; // the arena's is greater
    void *&p = E.current->home->shared[{file, line}];
    if (!p) {
        p = device().allocate(size);
        if (!p) { std::fprintf(stderr, "simt: no room for shared memory\n"); std::abort(); }
        E.current->home->owned.push_back(p);
    }
    return p;
}

void *dynamic_shared_memory()
{
    block_state &b = *E.current->home;
    if (!b.dynamic_shared) {
        b.dynamic_shared = device().allocate(std::max<size_t>(E.dynamic_size, 1));
        if (!b.dynamic_shared) { std::fprintf(stderr, "simt: no room for shared memory\n"); std::abort(); }
        b.owned.push_back(b.dynamic_shared);
    }
    return b.dynamic_shared;
}

void sync_block(int what, int predicate, int *ret_result)
{
    fibre *f = E.current;
    f->place = __builtin_return_address(0);
    f->what = what, f->predicate = predicate;
    f->fruitless = false;
    f->now = state::barrier;
    if (++f->home->waiting == f->home->alive) open_barrier(*f->home);
    to_scheduler(f);
    if (ret_result) *ret_result = f->result;
}

void spin()
{
    E.current->place = __builtin_return_address(0);
    give_way(state::spinning);
}

unsigned lane() { return E.current->linear % 32; }

unsigned active_mask()
{
    return 1u << lane(); // threads may diverge at any place, so no more may be relied on (Programming Guide, independent thread scheduling)
}

void warp_collective(unsigned mask, warp_payload &payload)
{
    fibre *f = E.current;
    f->place = __builtin_return_address(0);
    f->mask = mask, f->payload = &payload;
    f->fruitless = false;
    if (!(mask >> (f->linear % 32) & 1)) {
        report(kind::warp, f, f->place, "the mask does not name the lane itself");
        cut_short();
    }
    f->now = state::warp;
    try_warp(f);
    to_scheduler(f);
}

// ---- atomics -----------------------------------------------------------------------------------------------------------------------

void fence()
{
    fibre *f = E.current;
    if (!E.wanted.races) return;
    f->seen = join(f->seen, f->pending);
    f->pending = nullptr;
    auto mine = f->seen ? std::make_shared<std::vector<uint32_t>>(*f->seen) : std::make_shared<std::vector<uint32_t>>(E.threads);
    (*mine)[f->id] = f->clock++;
    f->fenced = mine;
}

namespace {
uint64_t old_value;

// What a store publishes, and what a load takes on: by itself with release or acquire, else together with a fence.
void publish(fibre *f, const volatile void *p, bool also_keeps, order what)
{
    if (what == RELEASE) fence();
    clocks &slot = E.released[p];
    slot = also_keeps ? join(slot, f->fenced) : f->fenced;
}
void take(fibre *f, const volatile void *p, order what)
{
    auto found = E.released.find(p);
    if (found == E.released.end() || !found->second) return;
    if (what == ACQUIRE) f->seen = join(f->seen, found->second);
    else f->pending = join(f->pending, found->second);
}
void ordered_access(const volatile void *p, size_t size, bool writes, order what, const void *place)
{
    access(p, size, writes, true, place);
    if (!E.wanted.races) return;
    if (writes) publish(E.current, p, false, what);
    else take(E.current, p, what);
}
} // namespace

void atomic_begin(const volatile void *p, size_t size, bool writes, order what)
{
    fibre *f = E.current;
    bool before = E.progress, fruitless = f->fruitless;
    f->place = __builtin_return_address(0);
    access(p, size, writes, true, f->place);
    if (writes && E.wanted.races) { // a plain store replaces what was published here; a read-modify-write goes on with it
        if (what == RELEASE) publish(f, p, false, what);
        else {
            take(f, p, what);
            publish(f, p, true, what);
        }
    }
    else if (E.wanted.races) take(f, p, what);
    if (size <= 8) std::memcpy(&old_value, const_cast<const void *>(p), size);
    E.progress = before; // until it is seen whether the value changes: a lock that stays taken is no progress
    f->fruitless = fruitless;
    f->inside_atomic = true;
}

void atomic_end(const volatile void *p, size_t size, bool writes, order what)
{
    (void)what;
    fibre *f = E.current;
    f->inside_atomic = false;
    if (!writes) return;
    if (size > 8 || std::memcmp(&old_value, const_cast<const void *>(p), size) != 0) {
        E.progress = true;
        f->fruitless = false;
    }
}

} // namespace simt

// ---- the calls that instrumented code makes (names fixed by the compiler) ----------------------------------------------------------

#define SIMT_HOOK(size) \
    extern "C" void __tsan_read##size(void *p) { simt::access(p, size, false, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_write##size(void *p) { simt::access(p, size, true, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_unaligned_read##size(void *p) { simt::access(p, size, false, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_unaligned_write##size(void *p) { simt::access(p, size, true, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_volatile_read##size(void *p) { if (simt::E.current) simt::volatile_access(p, size, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_volatile_write##size(void *p) { if (simt::E.current) simt::volatile_access(p, size, true, __builtin_return_address(0)); } \
    extern "C" void __tsan_unaligned_volatile_read##size(void *p) { __tsan_volatile_read##size(p); } \
    extern "C" void __tsan_unaligned_volatile_write##size(void *p) { __tsan_volatile_write##size(p); }

namespace simt {
static void volatile_access(void *p, size_t size, bool writes, const void *place)
{
    if (!E.current->inside_atomic) ordered_access(p, size, writes, RELAXED, place);
}
} // namespace simt

SIMT_HOOK(1)
SIMT_HOOK(2)
SIMT_HOOK(4)
SIMT_HOOK(8)
SIMT_HOOK(16)
extern "C" void __tsan_read_range(void *p, size_t n) { if (n) simt::access(p, n, false, false, __builtin_return_address(0)); }
extern "C" void __tsan_write_range(void *p, size_t n) { if (n) simt::access(p, n, true, false, __builtin_return_address(0)); }
// A compiler may load a vector in pieces, which are aligned: its alignment checks (-fsanitize=alignment,bounds) see the whole.
extern "C" void __ubsan_handle_type_mismatch_v1(void *, void *) { if (simt::E.current) simt::misaligned(__builtin_return_address(0)); }
extern "C" void __ubsan_handle_out_of_bounds(void *, void *)
{
    if (!simt::E.current) return;
    simt::report(simt::kind::bounds, simt::E.current, __builtin_return_address(0), "an index outside its array");
    simt::cut_short();
}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit(void) {}
extern "C" void __tsan_init(void) {}
extern "C" void __tsan_vptr_update(void *, void *) {}
extern "C" void __tsan_vptr_read(void *) {}
