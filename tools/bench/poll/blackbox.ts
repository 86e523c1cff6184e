// The peer of the poll and duty benchmarks: Debian's prometheus-blackbox-exporter, probing the same API.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { PollCost, PollOrder } from './poller.ts';

const program = '/usr/bin/prometheus-blackbox-exporter';
const config = 'modules:\n  http_2xx:\n    prober: http\n    http: {preferred_ip_protocol: ip4}\n';

export type Blackbox = Awaited<ReturnType<typeof launch>>;

/** What is asked of it: the URL to probe, and how often, as in PollOrder. */
type ProbeOrder = Omit<PollOrder, 'by' | 'url' | 'warmed'> & { readonly target: string };

/** An exporter that listens. Where it is not installed: null, with a line on stderr, and under CI an error. */
export async function startBlackbox(bench: string): Promise<Blackbox | null> {
  if (existsSync(program)) return launch();
  if (process.env['CI']) throw new Error('prometheus-blackbox-exporter is not installed');
  process.stderr.write(`${bench}: prometheus-blackbox-exporter is not installed, so nothing is said about it\n`);
  return null;
}

/** `probe` polls through it and tells its own cost, not that of the asking. */
async function launch() {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-blackbox-'));
  writeFileSync(join(folder, 'blackbox.yml'), config);
  const port = await freePort();
  const args = [`--config.file=${join(folder, 'blackbox.yml')}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn(program, [...args, '--log.level=error'], { stdio: 'ignore' });
  const agent = new Agent({ connections: 16 });
  const pid = child.pid ?? 0;
  const ask = async (target: string) => {
    const path = `/probe?module=http_2xx&target=${encodeURIComponent(target)}`;
    const { body } = await request(`http://127.0.0.1:${port}${path}`, { dispatcher: agent });
    return /^probe_success 1$/m.test(await body.text());
  };
  for (
    let tries = 0;
    !(await ask('http://127.0.0.1:1').then(
      () => true,
      () => false,
    ));
    tries += 1
  ) {
    if (tries > 100) throw new Error('prometheus-blackbox-exporter does not come up');
    await sleep(100);
  }
  return {
    async probe({ target, forMs, concurrency, everyMs }: ProbeOrder): Promise<PollCost> {
      if (!(await ask(target))) throw new Error('the exporter can not reach the API');
      const before = cpuSecondsOf(pid);
      const until = performance.now() + forMs;
      let polls = 0;
      const loop = async () => {
        for (let at = performance.now(); at < until; at = performance.now()) {
          if (await ask(target)) polls += 1;
          if (everyMs > 0) await sleep(Math.max(0, at + everyMs - performance.now()));
        }
      };
      await Promise.all(Array.from({ length: concurrency }, loop));
      return { polls, cpuSeconds: cpuSecondsOf(pid) - before, rssBytes: rssOf(pid) };
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await agent.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Nanoseconds on a CPU, of every thread. */
function cpuSecondsOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const ofTask = (task: string) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  return tasks.reduce((sum, task) => sum + ofTask(task), 0) / 1e9;
}

function rssOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
