// What `warmwarden simulator` says at its start: where it is, how to guard it, and how to let something go wrong.

import { counted } from '../../src/core/wording/phrases.ts';
import { type Habits, habitTexts } from './habits.ts';
import type { SimulatedKey } from './keys.ts';
import { matchesAddress } from './pattern.ts';

export interface Running {
  readonly url: string;
  readonly keys: readonly SimulatedKey[];
  readonly scenario: { readonly name: string; readonly summary: string };
  readonly seed: number;
  /** How many times as fast as real time. */
  readonly speed: number;
  /** The fleet's time, epoch milliseconds. */
  readonly now: number;
  /** Whether `--start` chose it. */
  readonly startChosen: boolean;
  /** null: it does as the document says. */
  readonly habits: Habits | null;
  /** The environment names a proxy, which would be asked for the simulator. */
  readonly behindProxy: boolean;
  /** Addresses, in the order of the fleet. */
  readonly mailboxes: readonly string[];
}

/** A fleet this small can be read so often that nobody waits, within the 100 requests a minute. */
const smallFleet = 20;

export function banner(running: Running): string {
  const { url, keys, scenario, seed, mailboxes } = running;
  return `
The simulated warm-up service is listening on ${url}

  API key    ${keys.map(keyText).join(`\n${' '.repeat(13)}`)}
  scenario   ${scenario.name}: ${scenario.summary}
  fleet      ${counted(mailboxes.length, 'mailbox', 'mailboxes')}, seed ${seed}
${time(running)}${habitLines(running)}

To guard this fleet, paste into config.yaml:

${configuration(running)}
Then start \`warmwarden run\` in a second terminal. The alerts appear here.
To let something go wrong, on any day and at any hour, type in a third terminal:

${troubles(running)}
To see what the API answers: curl -s -H 'Authorization: Bearer ${keys[0]?.key}' ${url}/v1/mailboxes

Stop the simulator with Ctrl-C.
`;
}

function habitLines({ habits }: Running): string {
  return habits === null ? '' : `\n  habits     ${habitTexts(habits).join(`\n${' '.repeat(13)}`)}`;
}

function time({ now, speed, startChosen }: Running): string {
  const at = new Date(now);
  const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(at);
  const pace = speed === 1 ? 'in real time' : `${speed} times as fast as real time`;
  const usual = speed === 1 && !startChosen;
  const notes = usual
    ? ['--start TIME begins at another time; --speed 60 makes a minute of each second.', 'Leave both out here:']
    : ['Started with --start or --speed, the fleet has a time of its own.'];
  const why = [
    `${notes.pop()} Warmwarden judges dates by the clock of this machine, and`,
    'does not act on data of another time. `warmwarden demo` moves both clocks.',
  ];
  const lines = [`${weekday} ${at.toISOString().replace(/\.\d+Z$/, 'Z')}, ${pace}`, ...notes, ...why];
  return `  time       ${lines.join(`\n${' '.repeat(13)}`)}`;
}

const planTexts = {
  free: 'plan free: every request is refused with 403',
  pro: 'plan pro: 100 requests a minute',
  enterprise: 'plan enterprise: 500 requests a minute',
} as const;

function keyText({ key, plan, permissions, mailboxes = [] }: SimulatedKey): string {
  const rights = permissions.includes('write') ? [] : ['read-only'];
  const whose = mailboxes.includes('*') ? [] : [`mailboxes ${mailboxes.join(', ')}`];
  return `${key}   (${[planTexts[plan], ...rights, ...whose].join('; ')})`;
}

/** Guards each mailbox once: of the keys that have it, with the first one. With habits, every key has an account. */
function accountsText({ url, keys, mailboxes, habits }: Running): string {
  const leftOut: string[] = [];
  const lines = keys.flatMap((key, index) => {
    const own = mailboxes.filter((address) => owns(key, address));
    const before = keys.slice(0, index).filter(({ plan }) => plan !== 'free');
    const isGuarded = (address: string) => before.some((one) => owns(one, address));
    if (habits === null && own.length > 0 && own.every(isGuarded)) {
      leftOut.push(key.key);
      return [];
    }
    const elsewhere =
      habits !== null ? [] : before.flatMap((one) => one.mailboxes ?? []).filter((glob) => own.some(matchesGlob(glob)));
    return [accountText(key, { index, url, elsewhere })];
  });
  if (leftOut.length > 0)
    lines.push(`  # Left out, because the accounts above guard the same mailboxes: ${leftOut.join(', ')}`);
  return lines.join('\n');
}

const matchesGlob = (glob: string) => (address: string) => matchesAddress(glob, address);

function owns({ mailboxes = [] }: SimulatedKey, address: string): boolean {
  return mailboxes.some((glob) => matchesAddress(glob, address));
}

interface Place {
  readonly index: number;
  readonly url: string;
  /** Globs on the addresses that other accounts guard. */
  readonly elsewhere: readonly string[];
}

/** The free plan has no access, and Warmwarden no word for it. */
function accountText({ key, plan }: SimulatedKey, { index, url, elsewhere }: Place): string {
  const name = index === 0 ? 'simulated' : `simulated-${index + 1}`;
  const guarded = plan === 'free' ? 'pro' : plan;
  const globs = elsewhere.map((glob) => `"${glob}"`).join(', ');
  const exclude = elsewhere.length === 0 ? '' : `, mailboxes: {exclude: [${globs}]}`;
  return `  - {name: ${name}, base_url: "${url}", api_key: "${key}", plan: ${guarded}${exclude}}`;
}

function configuration(running: Running): string {
  const { url, mailboxes } = running;
  const fast =
    mailboxes.length <= smallFleet
      ? 'poll: {stats_interval_min: 15s, dns: "* * * * *"}   # read often, so that you see changes soon\n'
      : '';
  const own = running.behindProxy ? 'proxy: none   # the simulator is on this machine\n' : '';
  return `accounts:
${accountsText(running)}
${fast}${own}log: {format: pretty}
alerts:
  group_wait: 5s
  group_interval: 30s
  channels:
    - {name: simulator, type: slack, url: "${url}/admin/inbox"}   # prints the alerts in this terminal
`;
}

function troubles({ url, mailboxes }: Running): string {
  const [first = '', second = first] = mailboxes;
  const last = mailboxes.at(-1) ?? first;
  const elsewhere = url === 'http://127.0.0.1:7030' ? '' : ` --url ${url}`;
  return [
    `breach ${first}`,
    `emergency ${second}`,
    `dns-failure ${first.slice(first.indexOf('@') + 1)}`,
    `disconnect ${last}`,
    `repair ${last}`,
  ]
    .map((words) => `  warmwarden simulator ${words}${elsewhere}\n`)
    .join('');
}
