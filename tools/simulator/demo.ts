// `warmwarden demo`, and so `npm start`: the simulator, a daemon that guards it on the simulator's clock, a receiver of
// the alerts, and the story in the terminal.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { configVariable } from '../../src/cli/options.ts';
import { handleSignals } from '../../src/cli/run/process.ts';
import { coloured, goOnWithoutOutputs, wrapped } from '../../src/cli/terminal.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Action } from '../../src/core/action.ts';
import type { Fleet } from '../../src/core/fleet/fleet.ts';
import { shellWord } from '../../src/core/mailbox.ts';
import { secondMs } from '../../src/core/time.ts';
import { explainVerdict } from '../../src/core/wording/explain.ts';
import { counted, spanText } from '../../src/core/wording/phrases.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import type { ConfigSource } from '../../src/daemon/reload/reloader.ts';
import { formatProblem } from '../../src/world/schema/problem.ts';
import { type Clock, standardOutput, type World, worldOn } from '../../src/world/world.ts';
import { demoKey } from './keys.ts';
import { type MovedClock, movedClock } from './moved-clock.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';
import { scenarioStart } from './scenarios.ts';
import { type Simulator, startSimulator } from './simulator.ts';

/** Default speed: ten simulated minutes a second, so that a morning takes half a minute. */
const defaultSpeed = 600;
const defaultPort = 7025;
/** Interval of looks at the fleet, in simulated time: shorter than it takes to send any message. */
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
  const world = worldOn(clock, { level: 'silent', format: 'json' });
  const story = createStory((text) => output.write(text), clock);
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
  output.write(greeting(daemon.url, simulator.url, speed, fileIn(folder)));
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

/** Looks at the fleet every few virtual seconds and prints what is new. */
async function follow(daemon: Daemon, story: Story, clock: MovedClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    story.look(daemon.fleet);
    await clock.sleep(lookEveryMs, signal);
  }
}

/** Starts on a free port if the default one is in use, but keeps to a port that the user chose. */
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

/** Story of the demo in the terminal. */
interface Story {
  /** Tells what has changed in the fleet since the last look. */
  look(fleet: Fleet): void;
  /** Tells about a message that arrived at the receiver. */
  received(message: Received): void;
  /** Prints a plain line. */
  say(text: string): void;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const indent = ' '.repeat(11);
/** Characters in a line, on any terminal. */
const width = 80;
const widthOfText = width - indent.length;

/** Greeting: what the demo is, its addresses, and a command to try. `file`: its configuration. */
function greeting(page: string, simulator: string, speed: number, file: string): string {
  return `
${coloured('bold', 'Warmwarden')} guards the warm-up of email mailboxes.
In this demo it guards a simulated fleet: one second here is ${spanText(speed * secondMs)} there.
Times are in UTC, on the clock of the fleet.

  status page   ${coloured('cyan', `${page}/`)}
  metrics       ${coloured('cyan', `${page}/metrics`)}
  API           ${coloured('cyan', `${simulator}/v1/health`)}
  API key       ${demoKey}

In another terminal (in a checkout, put \`npx\` before \`warmwarden\`):
  export ${configVariable}=${shellWord(file)}
  warmwarden status

Ctrl-C ends the demo.
`;
}

function createStory(write: (text: string) => void, clock: Clock): Story {
  const seen = new Set<string>();
  const kinds = new Set<Action['kind']>();
  let greeted = false;
  let concluded = false;

  const moment = () => {
    const at = new Date(clock.now());
    return `${weekdays[at.getUTCDay()]} ${at.toISOString().slice(11, 16)}`;
  };
  const below = (text: string, mark = '') => {
    for (const line of wrapped(text, widthOfText - mark.length)) write(`${indent}${mark}${line}\n`);
  };
  const event = (mark: string, title: string, text: string) => {
    write(`\n${coloured('dim', moment())}  ${mark} ${coloured('bold', title)}\n`);
    below(text);
  };
  const acted = ({ kind, email, verdict, openedAt, settledAt }: Action) => {
    const took = openedAt && settledAt ? ((settledAt - openedAt) / secondMs).toFixed(1) : '0';
    const done = kind === 'pause' ? `PAUSED the warm-up of ${email}` : `switched ${email} to RECOVERY mode`;
    const mark = kind === 'pause' ? coloured('red', '■') : coloured('yellow', '▼');
    event(mark, `Warmwarden ${done}`, `${explainVerdict(verdict)} Read back after ${took} s.`);
    kinds.add(kind);
  };

  return {
    look(fleet) {
      const judged = [...fleet.mailboxes()].filter((mailbox) => mailbox.verdict !== null);
      if (!greeted && judged.length > 0 && judged.length === fleet.mailboxCount()) {
        greeted = true;
        event(
          coloured('green', '●'),
          `Warmwarden guards ${counted(judged.length, 'mailbox', 'mailboxes')}`,
          'All of them are within their bounce limits. Their sending day begins.',
        );
      }
      for (const action of [...fleet.recentActions()].reverse()) {
        // What people do in the demo, they see where they do it.
        if (action.state !== 'confirmed' || action.by || action.kind === 'restore' || seen.has(action.id)) continue;
        seen.add(action.id);
        acted(action);
      }
    },
    received(message) {
      if (message.kind === 'slack') {
        write(`\n${indent}${coloured('dim', `${moment()}, in Slack:`)}\n`);
        below(message.title, '│ ');
        for (const { text, command } of message.lines)
          if (command) write(`${indent}│   ${text}\n`);
          else below(text, '│ ');
        return;
      }
      const signature = message.signed ? 'signature verified' : 'SIGNATURE WRONG';
      below(`The webhook received ${message.type}: ${message.bytes} bytes, ${signature}, id ${message.id}`);
      if (concluded || !kinds.has('recovery') || !kinds.has('pause')) return;
      concluded = true;
      const title = 'One mailbox is in recovery mode, one is paused, and both alerts were sent.';
      write(`\n${coloured('green', '✔')} ${coloured('bold', title)}\n`);
      write('  The daemon continues. Look at the status page, or press Ctrl-C to end the demo.\n');
    },
    say: (text) => write(`\n${text}\n`),
  };
}
