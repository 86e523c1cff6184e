// `warmwarden simulator breach MAILBOX` and its like: lets something go wrong in a simulator that runs.
import { Command } from 'commander';
import type { AimedKind, HealthKind } from '../../../tools/simulator/trouble.ts';
import type { Trouble, TroubleRequest } from '../../../tools/simulator/trouble-route.ts';
import { commandName } from '../../world/command-name.ts';
import { CommandError } from '../errors.ts';
import { type JsonOptions, jsonOption, printJson } from '../options.ts';

interface TroubleText {
  readonly description: string;
  /** When a daemon that guards the simulator can know, in sentences. */
  readonly seen: readonly string[];
}

type TroubleCommand = TroubleText &
  (
    | { readonly kind: AimedKind; readonly target: 'mailbox' | 'domain' }
    | { readonly kind: HealthKind; readonly target: null }
  );

const nextStats = 'A daemon sees it when it next reads the statistics of this mailbox.';
const nextWarmup = 'A daemon sees it when it next reads the warm-up of this mailbox.';
const fiveMinutes = 'A daemon sends an alert when this has lasted for 5 minutes.';
const onceADay = [
  'To repeat it today on the same mailbox, use `simulator emergency`: after a change of mode, Warmwarden counts only emails',
  'from the next day on.',
].join(' ');

const troubleCommands: readonly TroubleCommand[] = [
  {
    kind: 'breach',
    target: 'mailbox',
    description: "make enough of a mailbox's emails bounce to exceed the bounce limit of its mode",
    seen: [nextStats, onceADay],
  },
  {
    kind: 'emergency',
    target: 'mailbox',
    description: 'make a third of the emails bounce that a mailbox sent today and yesterday',
    seen: [nextStats],
  },
  {
    kind: 'dns-failure',
    target: 'domain',
    description:
      'remove the SPF and DKIM records of a domain; to name the domain, you can also give one of its mailboxes',
    seen: ['A daemon sees it when it next reads the DNS check, and asks for a second check before it sends an alert.'],
  },
  {
    kind: 'disconnect',
    target: 'mailbox',
    description: 'make the login of a mailbox fail',
    seen: [
      'A daemon sees it when it next reads the mailbox list, and reads the mailbox twice before it sends an alert.',
    ],
  },
  {
    kind: 'repair',
    target: 'domain',
    description: 'repair DNS, listings and logins of a domain, named by itself or by one of its mailboxes',
    seen: ['A daemon that sent an alert reports that it is resolved, once it has read that.'],
  },
  {
    kind: 'pause',
    target: 'mailbox',
    description: 'pause the warm-up of a mailbox, as a person does in the mailbox app',
    seen: [nextWarmup],
  },
  {
    kind: 'raise-mode',
    target: 'mailbox',
    description: 'set a mailbox to the next faster mode, as a person does in the mailbox app',
    seen: [nextWarmup],
  },
  {
    kind: 'raise-limit',
    target: 'mailbox',
    description: 'set the target daily limit of a mailbox above the maximum of its mode, as a person does',
    seen: [nextWarmup, 'If the mailbox then sends more than its mode allows, that is an alert from the second day on.'],
  },
  {
    kind: 'unwell',
    target: null,
    description: 'make the health check report "degraded"',
    seen: [fiveMinutes],
  },
  {
    kind: 'clock-off',
    target: null,
    description: 'put the clock of the API, as its health check reports it, 5 minutes ahead',
    seen: [fiveMinutes],
  },
  {
    kind: 'well',
    target: null,
    description: 'make the health check report "ok" and the right time again',
    seen: ['A daemon that sent an alert reports that it is resolved, once it has read that.'],
  },
];

interface Flags extends JsonOptions {
  readonly port: number;
  readonly host: string;
  readonly url?: string;
}

/** The commands below `simulator`; its `--port` and `--host` name the simulator too. */
export function troubleSubcommands(): readonly Command[] {
  return troubleCommands.map((one) => {
    const command = new Command(one.kind)
      .description(one.description)
      .option('--url <url>', 'the simulator (default: http://127.0.0.1:7030, or what --host and --port say)')
      .addOption(jsonOption());
    if (one.target === null) {
      return command.action(() => letHappen(one, { kind: one.kind }, command.optsWithGlobals<Flags>()));
    }
    const { kind, target } = one;
    return command
      .argument(`<${target}>`, target === 'mailbox' ? 'its address or id' : 'the domain, or a mailbox of it')
      .action((name: string) => letHappen(one, { kind, target: name }, command.optsWithGlobals<Flags>()));
  });
}

async function letHappen(
  { seen }: TroubleText,
  request: TroubleRequest,
  { port, host, url, json }: Flags,
): Promise<void> {
  const base = (url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`).replace(/\/+$/, '');
  const { mailboxes, message, caveat } = await ask(base, request);
  const messages = caveat ? [message, caveat] : [message, ...seen];
  if (json) printJson('simulator breach', { result: 'done', mailboxes, messages });
  else process.stdout.write(`${messages.join('\n')}\n`);
}

/** Throws a CommandError when it did not happen. */
async function ask(base: string, request: TroubleRequest): Promise<Trouble> {
  if (!URL.canParse(base)) {
    throw new CommandError('usage', `--url ${base} is not an address. Write it as http://127.0.0.1:7030.`);
  }
  const body = JSON.stringify(request);
  const answer = await fetch(`${base}/admin/troubles`, { method: 'POST', body, redirect: 'error' }).catch(() => null);
  if (!answer) {
    const start = `Start one with \`${commandName} simulator\`, or name the address of the running one with --url.`;
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
