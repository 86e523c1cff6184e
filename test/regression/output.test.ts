// O1: standard output that can't be written, that nobody reads, or whose reader dies, once ended or froze the whole guard.
import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-port.ts';
import { Stage } from '../support/guarded.ts';
import { week } from '../support/other-api.ts';
import { bin, inherited, root, Workplace } from '../support/process.ts';
import { type Scrape, scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

/** `warmwarden ...args` with outputs that the test holds, and that nobody here reads by himself. */
function unheard(args: readonly string[], stdio: StdioOptions): AsyncDisposable & { readonly child: ChildProcess } {
  const child = spawn(process.execPath, [bin, ...args], { cwd: root, env: inherited(), stdio });
  const gone = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  return { child, [Symbol.asyncDispose]: end };
}

/** A named pipe, whose ends the test opens. */
class Fifo implements Disposable {
  readonly #place = new Workplace();
  readonly path = this.#place.path('fifo');
  readonly #open = new Set<number>();

  constructor() {
    execFileSync('mkfifo', [this.path]);
  }

  open(flags: number): number {
    const end = openSync(this.path, flags | constants.O_NONBLOCK);
    this.#open.add(end);
    return end;
  }

  close(end: number): void {
    closeSync(end);
    this.#open.delete(end);
  }

  /** What stands in the pipe now; empty without anything. */
  read(end: number): string {
    const buffer = Buffer.alloc(65_536);
    try {
      return buffer.toString('utf8', 0, readSync(end, buffer));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const end of this.#open) closeSync(end);
    this.#place[Symbol.dispose]();
  }
}

/** Routes that fit no account are warnings at the start, in all more than the buffers of a pipe or socket and ours hold. */
const uselessRoutes = Array.from({ length: 1_300 }, (_, index) => ({
  match: { account: `nobody-${index}-${'x'.repeat(300)}` },
  channels: ['hook'],
}));
const everythingToTheHook = { match: { severity: ['critical', 'warning', 'info'] }, channels: ['hook'] };

interface Talk {
  readonly format?: 'json' | 'pretty';
  readonly talkative?: boolean;
}

/** A daemon's stage where the port is known without its log. */
async function openStage({ format = 'json', talkative = false }: Talk = {}) {
  const port = await freePort();
  const stage = await Stage.open({
    file: { log: { level: 'debug', format }, server: { listen: `127.0.0.1:${port}` } },
  });
  stage.api.add('fine@a.example');
  const burning = stage.api.add('burning@a.example', { days: week(40, 6) });
  if (talkative) {
    const config = parse(readFileSync(stage.config, 'utf8'));
    config.alerts.routes = [...uselessRoutes, everythingToTheHook];
    stage.workplace.configure(config);
  }
  return { stage, burning, url: `http://127.0.0.1:${port}`, run: ['run', '--config', stage.config] };
}

type Staged = Awaited<ReturnType<typeof openStage>>;

/** The action is made and told, everything is guarded, and the daemon says so. */
async function guardsAndTells({ stage, burning, url }: Staged): Promise<Scrape> {
  const ready = async () => (await request(`${url}/readyz`).catch(() => null))?.statusCode === 200;
  await until('the daemon is ready', ready);
  await until('the action', () => stage.api.posts(burning).length > 0);
  await until('the message', () => stage.receiver.alerts().some(({ rule }) => rule === 'guard_acted'));
  const seen = stage.api.log.length;
  await until('it polls on', () => stage.api.log.length > seen + 5);
  expect(await ready()).toBe(true);
  const figures = await scrape(url);
  expect(figures.value('api_up', { account: 'acme' })).toBe(1);
  expect(figures.value('mailboxes', { account: 'acme', state: 'recovering' })).toBe(1);
  return figures;
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

describe.concurrent('O1: the guard starts and goes on, and every action is told, when standard output', () => {
  test.each([
    ['is a file on a full disk, and standard error too', { format: 'pretty' }, '/dev/full'],
    ['is a socket that no process reads', { talkative: true }, null],
  ] as const)('%s', async (_, talk, file) => {
    const staged = await openStage(talk);
    await using _stage = staged.stage;
    const end = file === null ? 'pipe' : openSync(file, 'w');
    await using daemon = unheard(staged.run, ['ignore', end, end]);
    if (end !== 'pipe') closeSync(end);
    const figures = await guardsAndTells(staged);
    expect(figures.value('log_lines_dropped_total')).toBeGreaterThan(0);
    daemon.child.kill('SIGTERM');
    expect(await once(daemon.child, 'exit')).toEqual([0, null]);
  });

  test('is a pipe whose reader stalls; when it reads again, one line says how many are missing', async () => {
    const staged = await openStage({ talkative: true });
    await using _stage = staged.stage;
    using fifo = new Fifo();
    const reader = fifo.open(constants.O_RDWR);
    const writer = fifo.open(constants.O_WRONLY);
    await using _daemon = unheard(staged.run, ['ignore', writer, 'ignore']);
    const figures = await guardsAndTells(staged);
    const dropped = figures.value('log_lines_dropped_total') ?? 0;
    expect(dropped).toBeGreaterThan(0);
    let read = '';
    const report = await until('the line about the gap', () => {
      read += fifo.read(reader);
      return linesOf(read).find((line) => line.includes('log lines were dropped') && line.endsWith('}'));
    });
    expect(JSON.parse(report).dropped).toBeGreaterThanOrEqual(dropped);
    // No line is torn, and none is missing unsaid.
    const whole = linesOf(read.slice(0, read.lastIndexOf('\n'))).map((line) => JSON.parse(line));
    const warnings = whole.filter(({ msg }) => msg.includes('nobody-')).length;
    expect(warnings).toBeGreaterThan(50);
    expect(warnings + JSON.parse(report).dropped).toBeGreaterThanOrEqual(uselessRoutes.length);
    expect(whole.filter(({ msg }) => msg.includes('log lines were dropped'))).toHaveLength(1);
  });

  test('is a pipe whose reader dies; the next reader sees how much was lost', async () => {
    const staged = await openStage();
    await using _stage = staged.stage;
    using fifo = new Fifo();
    const first = fifo.open(constants.O_RDONLY);
    const writer = fifo.open(constants.O_WRONLY);
    await using daemon = unheard(staged.run, ['ignore', writer, writer]);
    fifo.close(writer);
    fifo.close(first);
    const figures = await guardsAndTells(staged);
    const dropped = figures.value('log_lines_dropped_total') ?? 0;
    expect(dropped).toBeGreaterThan(0);
    const second = fifo.open(constants.O_RDONLY);
    daemon.child.kill('SIGHUP');
    let read = '';
    await until('lines again', () => {
      read += fifo.read(second);
      return read.includes('configuration reloaded');
    });
    expect(JSON.parse(linesOf(read)[0] ?? '{}').dropped).toBeGreaterThanOrEqual(dropped);
  });
});

test('a full disk ends a command that has nothing else to do with one sentence', async () => {
  const full = openSync('/dev/full', 'w');
  const said = spawnSync(process.execPath, [bin, 'simulator', '--help'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect(said.status).toBe(1);
  expect(said.stderr.toString()).toMatch(/^warmwarden: standard output could not be written: ENOSPC.*\n$/);
});
