// The outside world, which tests and the demo replace. Only this file uses the current time, timers and Math.random.
import { createRequire } from 'node:module';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { Output, type Patience, writerTo } from './output.ts';

/** Structured log, pino's interface: `log.info({account}, 'sentence')`. */
export type Log = Logger;

/** Time in the program's view: real in production, moved by hand in tests, paced in the demo. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. May jump; never measure a wait with it. */
  now(): number;
  /** Milliseconds on a scale that never jumps. Only differences mean something. */
  monotonic(): number;
  /** Resolves after `ms` (at once if negative), or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs work that waits for the outside world, such as a request. A moved clock does not move until it ends. */
  busy<T>(work: () => Promise<T>): Promise<T>;
}

export interface World {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Present and past secrets of the configuration, which are removed from foreign texts. */
  readonly secrets?: () => readonly string[];
}

/** Returns true if the work ended in time; rejects as the work does. */
export async function endsWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const waiting = new AbortController();
  const late = clock.sleep(ms, waiting.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    // A reason is given because each wait would otherwise build an error with its stack.
    waiting.abort('over');
  }
}

/** Limit of setTimeout, 2^31 - 1 ms; a longer wait wakes early, and its loop waits again. */
const maxTimerMs = 2 ** 31 - 1;

export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        // Node.js drops a fraction, so that a loop would wake too early, and sleep once more for the rest.
        const timer = setTimeout(done, Math.min(Math.ceil(Math.max(ms, 0)), maxTimerMs));
        signal?.addEventListener('abort', done, { once: true });
      }),
    busy: (work) => work(),
  };
}

/** Lets long work yield the event loop, in real time, since a moved clock does not move within it. */
export interface Pacer {
  /** True if the slice is used up: call `await turn()` then. */
  due(): boolean;
  /** Resolves in a turn of the event loop of its own, with a new slice. */
  turn(): Promise<void>;
}

export function createPacer(sliceMs: number): Pacer {
  let until = performance.now() + sliceMs;
  return {
    due: () => performance.now() >= until,
    async turn() {
      await nextTurn();
      until = performance.now() + sliceMs;
    },
  };
}

/** Reports how late a timer of the event loop was, in real time, until the process ends. */
export function watchLag(everyMs: number, report: (lateMs: number) => void): void {
  let due = performance.now() + everyMs;
  const measure = () => {
    const now = performance.now();
    report(Math.max(0, now - due));
    due = now + everyMs;
  };
  setInterval(measure, everyMs).unref();
}

/** Calls `act` after `ms` of real time, unless the returned function was called before. */
export function actAfter(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

/** Resolves in the next turn of the event loop, after what waits for timers and requests. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets a loop sleep until its time or a ring. A ring while nothing sleeps is kept for the next sleep. */
export interface Bell {
  ring(): void;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function createBell(clock: Clock): Bell {
  let rung = new AbortController();
  // A reason is given because each ring would otherwise build an error with its stack.
  const ring = () => rung.abort('rung');
  return {
    ring,
    async sleep(ms, signal) {
      signal?.addEventListener('abort', ring, { once: true });
      if (!signal?.aborted) await clock.sleep(ms, rung.signal);
      signal?.removeEventListener('abort', ring);
      if (rung.signal.aborted) rung = new AbortController();
    },
  };
}

export type Hide = (text: string) => string;

export interface LogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  readonly format: 'json' | 'pretty';
}

const patience: Patience = {
  later: (ms, run) => void setTimeout(run, ms).unref(),
  block: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/** Standard output of a process that can go on without it (output.ts). Waits a moment for the rest at the exit. */
export function standardOutput(droppedLine: (dropped: number) => string): Output {
  // Touching process.stdout makes Node set a pipe or a socket to non-blocking.
  const { fd } = process.stdout;
  const output = new Output({ write: writerTo(fd), patience, droppedLine });
  process.on('exit', () => output.flush());
  return output;
}

type LogHook = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;
const errorLevel = 50;

const outputs = new WeakMap<Log, Output>();

export function droppedLines(log: Log): number {
  return outputs.get(log)?.dropped ?? 0;
}

export function createLog(options: LogOptions, clock: Clock, hide: Hide = (line) => line): Log {
  if (options.level === 'silent') return logTo(() => {}, options, clock, hide);
  const colorize = process.stdout.isTTY === true;
  const shown: (line: string) => string = options.format === 'pretty' ? prettyLines(colorize) : (line) => line;
  const output = standardOutput((dropped) => shown(droppedLine(clock, dropped)));
  const log = logTo((line) => output.write(shown(line)), options, clock, hide);
  outputs.set(log, output);
  return log;
}

function prettyLines(colorize: boolean): (line: string) => string {
  const { prettyFactory }: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  return prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss' });
}

/** A repeated error is one line a minute, with the number of lines left out. */
export function logTo(
  write: (line: string) => void,
  options: LogOptions,
  clock: Clock,
  hide: Hide = (line) => line,
): Log {
  const repeats = new Repeats(() => clock.monotonic());
  const logMethod: LogHook = function (args, method, level) {
    const [about, message] = args as readonly unknown[];
    const error = level >= errorLevel ? errorIn(about) : null;
    if (!error) {
      method.apply(this, args);
      repeats.settle();
      return;
    }
    const write = (fields: object) => method.call(this, fields, String(message));
    const leftOut = repeats.met(`${message} ${kindOf(error)}`, (count) =>
      write({ failure: error.message, left_out: count }),
    );
    if (leftOut !== null) write(leftOut > 0 ? { ...(about as object), left_out: leftOut } : (about as object));
    repeats.settle();
  };
  const settings: LoggerOptions = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: ['*.api_key', '*.secret', '*.authorization', 'api_key', 'secret'], censor: '[hidden]' },
    hooks: { streamWrite: hide, logMethod },
  };
  return pino(settings, { write });
}

function errorIn(about: unknown): Error | null {
  return typeof about === 'object' && about !== null && 'err' in about && about.err instanceof Error ? about.err : null;
}

function kindOf(error: Error): string {
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown };
  return `${error.name} ${errcode ?? code ?? ''}`;
}

/** Line at the level error, so that it appears at every level: the dropped lines may be of any level. */
function droppedLine(clock: Clock, dropped: number): string {
  const msg = 'log lines were dropped: standard output could not be written';
  return `${JSON.stringify({ level: 'error', time: new Date(clock.now()).toISOString(), dropped, msg })}\n`;
}

export function worldOn(clock: Clock, options: LogOptions, hide?: Hide): World {
  return { clock, random: () => Math.random(), log: createLog(options, clock, hide) };
}

// Repeated errors: one line a minute is written for each kind, and the others are counted.

const everyMs = 60_000;

interface LineKind {
  readonly writtenAt: number;
  /** Reports the number of lines left out since, if no later line does. */
  readonly sayLeftOut: (count: number) => void;
  leftOut: number;
}

export class Repeats {
  readonly #monotonic: () => number;
  readonly #kinds = new Map<string, LineKind>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Number of similar lines left out before this one, or null to leave this one out. */
  met(kind: string, sayLeftOut: (count: number) => void): number | null {
    const known = this.#kinds.get(kind);
    if (known && !this.#isOver(known)) {
      known.leftOut += 1;
      return null;
    }
    this.#kinds.set(kind, { writtenAt: this.#monotonic(), sayLeftOut, leftOut: 0 });
    return known?.leftOut ?? 0;
  }

  settle(): void {
    for (const [name, kind] of this.#kinds) {
      if (!this.#isOver(kind)) continue;
      this.#kinds.delete(name);
      if (kind.leftOut > 0) kind.sayLeftOut(kind.leftOut);
    }
  }

  #isOver({ writtenAt }: LineKind): boolean {
    return this.#monotonic() - writtenAt >= everyMs;
  }
}
