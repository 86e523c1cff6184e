// `warmwarden demo`, and so `npm start`: the simulator, a daemon that guards it on the simulator's clock, a receiver of
// the alerts, and the story in the terminal.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { demoKey } from '../../tools/simulator/keys.ts';
import { type Received, type Receiver, startReceiver } from '../../tools/simulator/receiver.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type Simulator, startSimulator } from '../../tools/simulator/simulator.ts';
import { loadConfig } from '../config/load.ts';
import type { Action } from '../core/action.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { secondMs } from '../core/time.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { counted, spanText } from '../core/wording/phrases.ts';
import { type Daemon, startDaemon } from '../daemon/daemon.ts';
import type { ConfigSource } from '../daemon/reload/reloader.ts';
import { commandName, shellWord } from '../world/command-name.ts';
import { formatProblem } from '../world/schema/problem.ts';
import { type Clock, type MovedClock, movedClock, standardOutput, type World, worldOn } from '../world/world.ts';
import { configVariable } from './options.ts';
import { handleSignals } from './run/process.ts';
import { goOnWithoutOutputs, wrapped } from './terminal.ts';

/** Default speed: ten simulated minutes a second, so that a morning takes half a minute. */
const defaultSpeed = 600;
const defaultPort = 7025;
/**
 * Interval at which the story reads the fleet, in simulated time: shorter than the time in which any message is sent.
 */
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

/** Replacement for dropped text. */
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

/** Words that start a command for the demo's daemon, also inside its messages. */
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

/**
 * Starts on a free port if the default port is in use, since a demo must not fail for that. Keeps to a port that the
 * user chose.
 */
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

/** Configuration file of the demo, which is configured like any daemon. */
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

/** Addresses and settings of the demo. */
interface DemoPlaces {
  readonly page: string;
  readonly simulator: string;
  readonly key: string;
  readonly speed: number;
  /** Words that start a command for the demo's daemon. */
  readonly command: string;
}

export interface Story {
  begin(beginning: DemoPlaces): void;
  /** Tells what has changed in the fleet since the last look. */
  look(fleet: Fleet): void;
  /** Tells about a message that arrived at the receiver. */
  received(message: Received): void;
  /** Prints a plain line. */
  say(text: string): void;
}

export interface StoryOptions {
  readonly write: (text: string) => void;
  readonly colour: boolean;
  readonly clock: Clock;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const indent = ' '.repeat(11);
/** Characters in a line, on any terminal. */
const width = 80;
const widthOfText = width - indent.length;

type Paint = (code: number, text: string) => string;

/** Greeting: what the demo is, its addresses, and commands to try. */
function greeting({ page, simulator, key, speed, command }: DemoPlaces, paint: Paint): string {
  return [
    '',
    `${paint(1, 'Warmwarden')} guards the warm-up of email mailboxes.`,
    `In this demo it guards a simulated fleet: one second here is ${spanText(speed * secondMs)} there.`,
    'Times are in UTC, on the clock of the fleet.',
    '',
    `  status page   ${paint(36, `${page}/`)}`,
    `  metrics       ${paint(36, `${page}/metrics`)}`,
    `  mailbox API   ${paint(36, `${simulator}/v1/health`)}`,
    `  API key       ${key}`,
    '',
    'In another terminal:',
    `  ${command} status`,
    '',
    'Ctrl-C ends the demo.',
    '',
  ].join('\n');
}

export function createStory({ write, colour, clock }: StoryOptions): Story {
  const paint: Paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const bold = (text: string) => paint(1, text);
  const dim = (text: string) => paint(2, text);
  const seen = new Set<string>();
  const outcomes = new Map<Action['kind'], string>();
  let greeted = false;
  let concluded = false;

  const moment = () => {
    const at = new Date(clock.now());
    return `${weekdays[at.getUTCDay()]} ${at.toISOString().slice(11, 16)}`;
  };
  const event = (mark: string, title: string, text: string) => {
    write(`\n${dim(moment())}  ${mark} ${bold(title)}\n`);
    for (const line of wrapped(text, widthOfText)) write(`${indent}${line}\n`);
  };
  const acted = (action: Action) => {
    const took = action.openedAt && action.settledAt ? ((action.settledAt - action.openedAt) / 1_000).toFixed(1) : '0';
    const { email, kind } = action;
    const done = kind === 'pause' ? `PAUSED the warm-up of ${email}` : `switched ${email} to RECOVERY mode`;
    const mark = action.kind === 'pause' ? paint(31, '■') : paint(33, '▼');
    event(mark, `Warmwarden ${done}`, `${explainVerdict(action.verdict)} Read back after ${took} s.`);
    outcomes.set(action.kind, action.email);
  };
  const conclude = () => {
    concluded = true;
    write(
      `\n${paint(32, '✔')} ${bold('One mailbox is in recovery mode, one is paused, and both alerts were sent.')}\n`,
    );
    write('  The daemon continues. Look at the status page, or press Ctrl-C to end the demo.\n');
  };

  return {
    begin: (addresses) => write(greeting(addresses, paint)),
    look(fleet) {
      const judged = [...fleet.mailboxes()].filter((mailbox) => mailbox.verdict !== null);
      if (!greeted && judged.length > 0 && judged.length === fleet.mailboxCount()) {
        greeted = true;
        event(
          paint(32, '●'),
          `Warmwarden guards ${counted(judged.length, 'mailbox', 'mailboxes')}`,
          'All of them are within their bounce limits. Their sending day begins.',
        );
      }
      for (const action of [...fleet.recentActions()].reverse()) {
        if (action.state !== 'confirmed' || seen.has(action.id)) continue;
        seen.add(action.id);
        acted(action);
      }
    },
    received(message) {
      if (message.kind === 'webhook') {
        const signature = message.signed ? 'signature verified' : 'SIGNATURE WRONG';
        const text = `The webhook received ${message.type}: ${message.bytes} bytes, ${signature}, id ${message.id}`;
        for (const line of wrapped(text, widthOfText)) write(`${indent}${dim(line)}\n`);
      } else {
        write(`\n${indent}${dim(`${moment()}, in Slack:`)}\n`);
        for (const line of wrapped(message.title, widthOfText - 2)) write(`${indent}${dim('│')} ${bold(line)}\n`);
        const lines = message.lines.flatMap(({ text, command }) =>
          command ? [`  ${text}`] : wrapped(text, widthOfText - 2),
        );
        for (const line of lines) write(`${indent}${dim('│')} ${line}\n`);
      }
      if (!concluded && outcomes.has('recovery') && outcomes.has('pause') && message.kind === 'webhook') conclude();
    },
    say: (text) => write(`\n${text}\n`),
  };
}
