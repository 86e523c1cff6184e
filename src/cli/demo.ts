// `warmwarden demo`, and so `npm start`: the simulator, the daemon that guards it on the simulator's clock, a receiver
// of its alerts, and the story in the terminal.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { demoKey } from '../../tools/simulator/keys.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type Simulator, startSimulator } from '../../tools/simulator/simulator.ts';
import { loadConfig } from '../config/load.ts';
import { type Daemon, startDaemon } from '../daemon/daemon.ts';
import type { ConfigSource } from '../daemon/reload/reloader.ts';
import { formatProblem } from '../schema/problem.ts';
import { commandName, shellWord } from '../world/command-name.ts';
import { type MovedClock, movedClock, standardOutput, type World, worldOn } from '../world/world.ts';
import { type Receiver, startReceiver } from './demo/receiver.ts';
import { createStory, type Story } from './demo/story.ts';
import { configVariable } from './options.ts';
import { handleSignals } from './run/process.ts';
import { goOnWithoutOutputs } from './terminal.ts';

/** Ten minutes of mailbox life a second: a morning takes half a minute. */
const defaultSpeed = 600;
const defaultPort = 7025;
/** How often the story looks at the fleet, in the fleet's own time: sooner than any message is sent. */
const lookEveryMs = 10_000;

export function demoCommand(): Command {
  return new Command('demo')
    .description('run a simulated fleet and a daemon that guards it, and show what happens')
    .option('--speed <factor>', 'how many times as fast as real time', Number, defaultSpeed)
    .option(
      '--port <port>',
      `the port of the page (default: ${defaultPort}, or a free one when that is in use)`,
      Number,
    )
    .action(({ speed, port }: { speed: number; port?: number }, command: Command) => {
      if (!(speed >= 1 && speed <= 3_600)) command.error('error: --speed is a number from 1 to 3600');
      if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
        command.error('error: --port is a whole number from 0 to 65535');
      return demo(speed, port);
    });
}

/** Stands where text was dropped. */
const missingText = () => '\n(Some of this output is missing here.)\n';

async function demo(speed: number, port: number | undefined): Promise<void> {
  goOnWithoutOutputs();
  const output = standardOutput(missingText);
  const clock = movedClock(scenarioStart);
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-demo-'));
  const command = commandFor(fileIn(folder));
  const world = { ...worldOn(clock, { level: 'silent', format: 'json' }), command };
  const story = createStory({
    write: (text) => output.write(text),
    colour: process.stdout.isTTY === true,
    clock,
  });
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const receiver = await startReceiver(secret, (message) => story.received(message));
  const simulator = await startSimulator({ world, scenario: 'bounce-storm' });
  const clear = async () => {
    await Promise.all([simulator.close(), receiver.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
  const sourceOn = (listen: string) => configure(folder, { simulator, receiver, secret, listen });
  const daemon = await startOn(port, sourceOn, world).catch(async (error: unknown) => {
    await clear();
    throw error;
  });
  story.begin({ page: daemon.url, simulator: simulator.url, key: demoKey, speed, command });
  const ended = new AbortController();
  const running = Promise.all([clock.pace(speed, ended.signal), follow(daemon, story, clock, ended.signal)]);
  handleSignals(
    {
      reload: (request) => daemon.reload(request),
      stop: async () => {
        // The daemon's last steps need a clock that moves.
        await daemon.stop();
        ended.abort();
        await running;
        await clear();
      },
    },
    (text) => story.say(text),
  );
}

function fileIn(folder: string): string {
  return join(folder, 'demo.yaml');
}

/** The words that start a command for the demo's daemon: those in its messages reach it, too. */
function commandFor(file: string): string {
  return `${configVariable}=${shellWord(file)} ${commandName}`;
}

/** Looks at the fleet every few virtual seconds and prints what is new. */
async function follow(daemon: Daemon, story: Story, clock: MovedClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    story.look(daemon.fleet);
    await clock.sleep(lookEveryMs, signal);
  }
}

/** Takes any free port when the usual one is in use: a demo must not fail for that. A port that was asked for is kept to. */
async function startOn(
  port: number | undefined,
  sourceOn: (listen: string) => ConfigSource,
  world: World,
): Promise<Daemon> {
  try {
    return await startDaemon(sourceOn(`127.0.0.1:${port ?? defaultPort}`), world);
  } catch (error) {
    if (port !== undefined || !(error instanceof Error && error.message.includes('is in use'))) throw error;
    return startDaemon(sourceOn('127.0.0.1:0'), world);
  }
}

interface DemoParts {
  readonly simulator: Simulator;
  readonly receiver: Receiver;
  readonly secret: string;
  readonly listen: string;
}

/** The demo is configured like any daemon: by a file. */
function configure(folder: string, { simulator, receiver, secret, listen }: DemoParts): ConfigSource {
  const file = fileIn(folder);
  const text = `
accounts:
  - {name: demo, base_url: "${simulator.url}", api_key: "${demoKey}", plan: pro}
poll: {dns: "*/30 * * * *", blacklist: "*/30 * * * *", mailbox: "*/30 * * * *", stats_interval_min: 0s}
alerts:
  channels:
    - {name: slack, type: slack, url: "${receiver.url}/slack"}
    - {name: webhook, type: webhook, url: "${receiver.url}/webhook", secret: "${secret}"}
store: {url: "sqlite:./demo.db"}
server: {listen: "${listen}"}
`;
  writeFileSync(file, text, { mode: 0o600 });
  const load = () => loadConfig(file, {});
  const started = load();
  if (!started.ok) throw new Error(started.problems.map((problem) => formatProblem(file, problem)).join('\n'));
  return { file, started, load };
}
