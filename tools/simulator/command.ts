// `warmwarden simulator`: simulates the warm-up service until it is stopped; `simulator breach MAILBOX` and similar
// commands cause trouble in it.

import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import { proxyFor } from '../../src/api/http/way-out.ts';
import { CommandError, exitFailed } from '../../src/cli/errors.ts';
import { type JsonOptions, jsonOption, printJson, wholeNumber } from '../../src/cli/options.ts';
import { afterParent } from '../../src/cli/run/process.ts';
import { goOnWithoutOutputs, helpEntry } from '../../src/cli/terminal.ts';
import { proxiesIn } from '../../src/core/egress.ts';
import { type Clock, standardOutput, systemClock, worldOn } from '../../src/world/world.ts';
import { fleetOf } from './agency-fleet.ts';
import { banner } from './banner.ts';
import { habitsOf } from './habits.ts';
import { receivedMessage } from './inbox.ts';
import { movedClock } from './moved-clock.ts';
import { type LimiterKind, limiterKinds } from './rate-limit.ts';
import type { Scenario } from './scenario.ts';
import { fromError, readScenario } from './scenario-file.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';
import { type Simulator, startSimulator } from './simulator.ts';
import type { Trouble, TroubleRequest } from './trouble-route.ts';
import { type TroubleText, troubleCommands } from './trouble-texts.ts';
import { plans, simulatedKeys, type TypedKey, withKey } from './typed-keys.ts';

interface SimulatorFlags {
  readonly port: number;
  readonly host: string;
  readonly scenario: ScenarioName;
  readonly file?: Scenario;
  readonly seed: number;
  readonly speed: number;
  readonly start?: number;
  readonly mailboxes?: number;
  readonly domains?: number;
  readonly key?: readonly TypedKey[];
  readonly plan: (typeof plans)[number];
  readonly habits: boolean;
  readonly readOnly: boolean;
  readonly limiter: LimiterKind;
}

const maxMailboxes = 20_000;

const keyHelp =
  'an API key to accept, beginning with sk_live_; several times for several keys, each followed by a plan, read-only or mailboxes if they differ: KEY,enterprise,read-only,*@b.example';

const notes = `
With --speed above 1, the fleet's time runs ahead of real time. The rate limit
stays on real time: 100 requests in 60 real seconds. A client that judges dates
by its own clock will find days in the future.

Faults (docs/faults.md) come from --file, or are added while it runs:
  curl -X POST URL/admin/faults \\
    -d '{"fault": "bad-gateway", "route": "stats", "times": 3}'

Scenarios are written for a start at 08:30 UTC on a Tuesday:
--start 2026-03-10T08:30:00Z
${Object.values(scenarios)
  .map(({ name, summary }) => helpEntry(`  ${name.padEnd(16)}`, summary))
  .join('\n')}`;

/** Command that main.ts mounts. */
export function simulatorCommand(): Command {
  const names = Object.keys(scenarios);
  const command = new Command('simulator')
    .description('serve a simulated warm-up service over a simulated fleet; let something go wrong in it')
    .option('--port <port>', 'port to listen on, 0 for any', wholeNumber(0, 65_535), 7030)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(new Option('--scenario <name>', 'what happens to the fleet').choices(names).default('calm'))
    .option('--file <path>', 'a scenario of your own, YAML or JSON: fleet, incidents, faults', scenarioFile)
    .option('--seed <number>', 'the same seed gives the same fleet', wholeNumber(0, 2 ** 31 - 1), 1)
    .option(
      '--speed <factor>',
      'how many times as fast as real time the fleet runs: with 60, a minute passes each second',
      speedFactor,
      1,
    )
    .option('--start <time>', "the fleet's time at the start, ISO 8601 (default: now)", instant)
    .option('--mailboxes <number>', 'size of the fleet (default: 12)', wholeNumber(1, maxMailboxes))
    .option('--domains <number>', 'domains of the mailboxes beyond the first 12', wholeNumber(1, maxMailboxes))
    .option('--key <key>', keyHelp, withKey)
    .addOption(new Option('--plan <plan>', 'the plan of the keys').choices(plans).default('pro'))
    .option(
      '--habits',
      'behave as real services do where the document is silent: a pause at night, a shared mailbox, two keys, odd limits',
      false,
    )
    .option('--read-only', 'the keys may only read: every change is refused with 403', false)
    .addOption(new Option('--limiter <kind>', 'how requests are counted').choices(limiterKinds).default('sliding'))
    .addHelpText('after', notes)
    .argument('[command...]', 'what goes wrong in a simulator that runs; without a command, a new one is started')
    .usage('[options] [command]')
    .action(([word]: readonly string[], flags: SimulatorFlags) => {
      if (word === undefined) return run(flags);
      return command.error(`error: unknown command '${word}'`);
    });
  for (const trouble of troubleSubcommands()) command.addCommand(trouble);
  return command;
}

async function run(flags: SimulatorFlags): Promise<void> {
  goOnWithoutOutputs();
  const output = standardOutput(() => '');
  const stop = new AbortController();
  const { clock, pacing } = fleetClock(flags, stop.signal);
  const world = worldOn(clock, { level: 'warn', format: 'pretty' });
  const base: Scenario = flags.file ?? scenarios[flags.scenario];
  const scenario = flags.mailboxes ? { ...base, fleet: fleetOf(flags.mailboxes, flags.domains) } : base;
  const { port, host, seed } = flags;
  const keys = simulatedKeys(flags.key ?? [], flags);
  const habits = flags.habits ? habitsOf(scenario.fleet) : null;
  let simulator: Simulator;
  try {
    const onMessage = (body: string) => output.write(receivedMessage(body, clock.now()));
    const limiterClock = systemClock();
    const served = { scenario, seed, keys, port, host, ...(habits && { habits }) };
    simulator = await startSimulator({ world, limiterClock, onMessage, ...served });
  } catch (error) {
    stop.abort();
    await pacing;
    process.stderr.write(`${refusal(error, flags)}\n`);
    process.exitCode = exitFailed;
    return;
  }
  const mailboxes = simulator.fleet.mailboxes().map(({ email }) => email);
  const { url } = simulator;
  const startChosen = flags.start !== undefined;
  const { speed } = flags;
  const behindProxy = proxyFor(url, proxiesIn(process.env).proxies) !== null;
  output.write(
    banner({ url, keys, scenario, seed, speed, now: clock.now(), startChosen, behindProxy, habits, mailboxes }),
  );
  await stopSignal();
  stop.abort();
  await pacing;
  await simulator.close();
  output.write('The simulator has stopped.\n');
}

/** Clock of the fleet: real time by default, since only that survives a laptop's sleep. */
function fleetClock({ speed, start }: SimulatorFlags, signal: AbortSignal): { clock: Clock; pacing: Promise<void> } {
  const real = systemClock();
  if (speed === 1 && start === undefined) return { clock: real, pacing: Promise.resolve() };
  const clock = movedClock(start ?? real.now());
  return { clock, pacing: clock.pace(speed, signal) };
}

function refusal(error: unknown, { port, host }: SimulatorFlags): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use: choose another one with --port.`;
  if (code === 'EACCES') return `Port ${port} needs more rights than you have: choose one above 1023 with --port.`;
  return `The simulator can't listen on ${host}:${port}: ${message}`;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const onSignal = () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      stopLooking();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    const stopLooking = afterParent(onSignal);
  });
}

function speedFactor(text: string): number {
  const value = Number(text);
  if (!(value >= 1 && value <= 100_000)) throw new InvalidArgumentError('It must be a number from 1 to 100000.');
  return value;
}

function scenarioFile(path: string): Scenario {
  try {
    return readScenario(parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new InvalidArgumentError(`It can't be used: ${fromError(error)}.`);
  }
}

function instant(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a time such as 2026-03-10T08:30:00Z.');
  return time;
}

interface TroubleFlags extends JsonOptions {
  readonly port: number;
  readonly host: string;
  readonly url?: string;
}

/** Commands below `simulator`, which share its `--port` and `--host`. */
function troubleSubcommands(): readonly Command[] {
  return troubleCommands.map((one) => {
    const command = new Command(one.kind)
      .description(one.description)
      .option('--url <url>', 'the simulator (default: http://127.0.0.1:7030, or what --host and --port say)')
      .addOption(jsonOption());
    if (one.target === null) {
      return command.action(() => letHappen(one, { kind: one.kind }, command.optsWithGlobals<TroubleFlags>()));
    }
    const { kind, target } = one;
    return command
      .argument(`<${target}>`, target === 'mailbox' ? 'its address or id' : 'the domain, or a mailbox of it')
      .action((name: string) => letHappen(one, { kind, target: name }, command.optsWithGlobals<TroubleFlags>()));
  });
}

async function letHappen(
  { seen }: TroubleText,
  request: TroubleRequest,
  { port, host, url, json }: TroubleFlags,
): Promise<void> {
  const base = (url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`).replace(/\/+$/, '');
  const { mailboxes, message, caveat } = await ask(base, request);
  const messages = caveat ? [message, caveat] : [message, ...seen];
  if (json) printJson('simulator breach', { result: 'done', mailboxes, messages });
  else process.stdout.write(`${messages.join('\n')}\n`);
}

/** Sends a request to the simulator. Throws a CommandError if it was not carried out. */
async function ask(base: string, request: TroubleRequest): Promise<Trouble> {
  if (!URL.canParse(base)) {
    throw new CommandError('usage', `--url ${base} is not an address. Write it as http://127.0.0.1:7030.`);
  }
  const body = JSON.stringify(request);
  const answer = await fetch(`${base}/admin/troubles`, { method: 'POST', body, redirect: 'error' }).catch(() => null);
  if (!answer) {
    const start = 'Start one with `warmwarden simulator`, or name the address of the running one with --url.';
    throw new CommandError('failed', `No simulator answers at ${base}. ${start}`);
  }
  const said: unknown = await answer.json().catch(() => null);
  if (answer.status === 201 && fieldOf(said, 'message') !== null) return said as Trouble;
  const error = fieldOf(said, 'error') ?? '';
  if (answer.status === 404 && error.startsWith('The simulated fleet')) throw new CommandError('unknown_name', error);
  if (answer.status === 409) throw new CommandError('failed', error);
  throw new CommandError('failed', `${base} answered ${answer.status}, and not as a simulator does.`);
}

function fieldOf(value: unknown, name: 'error' | 'message'): string | null {
  const fields: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  const field = fields[name];
  return typeof field === 'string' ? field : null;
}
