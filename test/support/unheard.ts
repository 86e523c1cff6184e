// A daemon whose outputs the test holds, and that nobody reads by himself.
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { request } from 'undici';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { freePort } from './free-port.ts';
import { Stage } from './guarded.ts';
import { week } from './other-api.ts';
import { bin, inherited, root, Workplace } from './process.ts';
import { type Scrape, scrape } from './scrape.ts';
import { until } from './until.ts';

/** `warmwarden ...args` with outputs that the test holds, and that nobody here reads by himself. */
export function unheard(
  args: readonly string[],
  stdio: StdioOptions,
): AsyncDisposable & { readonly child: ChildProcess } {
  const child = spawn(process.execPath, [bin, ...args], { cwd: root, env: inherited(), stdio });
  const gone = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  return { child, [Symbol.asyncDispose]: end };
}

/** A named pipe, whose ends the test opens. */
export class Fifo implements Disposable {
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
export const uselessRoutes = Array.from({ length: 1_300 }, (_, index) => ({
  match: { account: `nobody-${index}-${'x'.repeat(300)}` },
  channels: ['hook'],
}));
const everythingToTheHook = { match: { severity: ['critical', 'warning', 'info'] }, channels: ['hook'] };

interface ReceivedMessage {
  readonly format?: 'json' | 'pretty';
  readonly talkative?: boolean;
}

/** A daemon's stage where the port is known without its log. */
export async function openStage({ format = 'json', talkative = false }: ReceivedMessage = {}) {
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
export async function guardsAndTells({ stage, burning, url }: Staged): Promise<Scrape> {
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

export const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
