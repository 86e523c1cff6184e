// Imported into the daemon's process by the blocks benchmark (node --import): how long the event loop computes in one go, and how
// much of it is V8's garbage collection. Both on the clock of this thread's processor, so that a busy machine makes little
// difference. It answers the benchmark over IPC.
import { type NodeTracing, Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

/** reset: what comes counts from here. tell: since then. heap: the same, after a collection (--expose-gc). */
export type LookOrder = 'reset' | 'tell' | 'heap';

export interface Looked {
  /** The longest work between two looks; others had to wait for it. */
  readonly blockMs: number;
  /** The same without the collector's pauses. */
  readonly ownMs: number;
  /** The longest pause of the collector. */
  readonly pauseMs: number;
  /** Of this thread, since the reset. */
  readonly threadMs: number;
  /** How much of it was in work of more than 10 ms. */
  readonly longMs: number;
  readonly heapBytes: number;
}

/** Times of this thread's processor, milliseconds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** One of V8's trace: of a thread, with its processor's times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly tid: number;
  readonly tts: number;
  readonly tdur: number;
}

const longBlockMs = 10;
const lookEveryMs = 1;
/** Shorter work is no block, and need not be remembered until the collector's pauses are known. */
const shortMs = 1;

/** Asking for the whole process first brings the thread's count up to date: otherwise Linux counts it at each tick, every 4 ms. */
function computedMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The collector's pauses of the main thread, as V8 traces them. */
class Pauses {
  readonly #session = new Session();
  #events: readonly TraceEvent[] = [];

  constructor() {
    this.#session.connect();
    this.#session.on('NodeTracing.dataCollected', ({ params }) => {
      this.#events = [...this.#events, ...(params.value as readonly TraceEvent[])];
    });
  }

  start(): Promise<void> {
    this.#events = [];
    const traceConfig: NodeTracing.TraceConfig = { includedCategories: ['v8'] };
    return new Promise((resolve) => this.#session.post('NodeTracing.start', { traceConfig }, () => resolve()));
  }

  async stop(): Promise<readonly Span[]> {
    await new Promise<void>((resolve) => {
      this.#session.once('NodeTracing.tracingComplete', () => resolve());
      this.#session.post('NodeTracing.stop');
    });
    const ofMain = this.#events.filter(({ name, tid }) => name.startsWith('V8.GC') && tid === process.pid);
    return outermost(ofMain.map(({ tts, tdur }) => ({ from: tts / 1_000, to: (tts + tdur) / 1_000 })));
  }
}

/** Those that are within no other. */
function outermost(spans: readonly Span[]): readonly Span[] {
  let end = Number.NEGATIVE_INFINITY;
  const outer: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (span.from < end) continue;
    end = span.to;
    outer.push(span);
  }
  return outer;
}

const lengthOf = ({ from, to }: Span) => to - from;
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0);

class Loop {
  readonly #pauses = new Pauses();
  #isTraced = false;
  /** Between two looks each. */
  #works: Span[] = [];
  #lookedAt = computedMs();
  #resetAt = computedMs();

  watch(): void {
    setInterval(() => this.#look(), lookEveryMs).unref();
  }

  #look(): void {
    const work = { from: this.#lookedAt, to: computedMs() };
    if (lengthOf(work) > shortMs) this.#works.push(work);
    this.#lookedAt = work.to;
  }

  async reset(): Promise<void> {
    if (this.#isTraced) await this.#pauses.stop();
    this.#isTraced = true;
    await this.#pauses.start();
    this.#works = [];
    this.#lookedAt = computedMs();
    this.#resetAt = this.#lookedAt;
  }

  /** Since the reset. */
  async looked(): Promise<Looked> {
    this.#look();
    const [works, threadMs] = [this.#works, this.#lookedAt - this.#resetAt];
    const pauses = this.#isTraced ? await this.#pauses.stop() : [];
    this.#isTraced = false;
    const pausedMs = (work: Span) =>
      pauses.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, work.to) - Math.max(from, work.from)), 0);
    const blocks = works.map(lengthOf);
    return {
      blockMs: most(blocks),
      ownMs: most(works.map((work) => lengthOf(work) - pausedMs(work))),
      pauseMs: most(pauses.map(lengthOf)),
      longMs: blocks.filter((ms) => ms > longBlockMs).reduce((sum, ms) => sum + ms, 0),
      threadMs,
      heapBytes: process.memoryUsage().heapUsed,
    };
  }
}

async function answer(loop: Loop, order: LookOrder): Promise<Looked | 'reset'> {
  if (order === 'reset') {
    await loop.reset();
    return 'reset';
  }
  if (order === 'heap') globalThis.gc?.();
  return loop.looked();
}

function watchLoop(): void {
  const loop = new Loop();
  loop.watch();
  process.on('message', async (order: LookOrder) => process.send?.(await answer(loop, order)));
  // The daemon ends when it wants to.
  process.channel?.unref();
}

if (isMainThread && process.send) watchLoop();
