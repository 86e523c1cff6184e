// `npm run bench -- noise`: how many messages people get from 90 days of a healthy agency, and of one that has a bad month.
import type { Alert, Transition } from '../../src/core/alert.ts';
import type { Severity } from '../../src/core/alert-rules.ts';
import type { WarmupMode } from '../../src/core/policy.ts';
import { dayMs } from '../../src/core/time.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { momentOf } from './noise/agency.ts';
import { type Life, live } from './noise/days.ts';
import type { Heard } from './noise/desk.ts';
import { heldAgainst } from './targets.ts';

const bench = 'noise';
const seed = 20_261;
const whole = { mailboxes: 500, days: 90 };
const small = { mailboxes: 100, days: 20 };
const channels = ['slack', 'pagerduty'] as const;

const healthyModes: readonly WarmupMode[] = ['slow', 'balanced', 'aggressive'];

const quiet = { troubles: [], dns: null, keyRevoked: null, storeFull: null };

/** A provider blocks for two days, a domain's DNS fails for a day and a half, a key is revoked for two hours, a disk is full for one. */
const bad = {
  troubles: [
    {
      from: momentOf(10, 9),
      until: momentOf(12, 9),
      hits: ({ provider }) => provider === 'google',
      rate: 1,
      bounce: { type: 'block', category: 'policy_block' },
    },
    {
      from: momentOf(14, 8),
      until: momentOf(15, 20),
      hits: ({ domain }) => domain === 'd7.example',
      rate: 0.8,
      bounce: { type: 'block', category: 'unauthenticated' },
    },
  ],
  dns: { domain: 'd7.example', from: momentOf(14, 7), until: momentOf(15, 20) },
  keyRevoked: { from: momentOf(17, 10), until: momentOf(17, 12) },
  storeFull: { from: momentOf(18, 10), until: momentOf(18, 11) },
} as const satisfies Pick<Life, 'troubles' | 'dns' | 'keyRevoked' | 'storeFull'>;

interface Lived {
  readonly heard: readonly Heard[];
  /** What one message an alert would be. */
  readonly alerts: number;
  /** Of them those about the guard's own actions. */
  readonly actions: number;
}

const loud: readonly Severity[] = ['critical', 'warning'];
/** Bounces count for a week. */
const dnsForgottenMs = 8 * dayMs;
const ownActions: readonly string[] = ['guard_acted', 'restored'];

async function lived(life: Life): Promise<Lived> {
  const { heard, transitions } = await live(life);
  // The peer has one message for the breaker's alert, however often its number doubles.
  const told = transitions.filter(({ kind, alert }) => loud.includes(alert.severity) && !isDoubling(kind, alert));
  const actions = told.filter(({ alert }) => ownActions.includes(alert.rule));
  return { heard, alerts: told.length, actions: actions.length };
}

const isDoubling = (kind: Transition['kind'], { rule }: Alert) => kind === 'worsened' && rule === 'guard_held';

const isOfAction = ({ rules }: Heard) => rules.some((rule) => ownActions.includes(rule));

/** In Slack, from the alert about the DNS until the domain's bounces are forgotten: whatever is about the domain. */
function isOfDns({ channel, at, domains }: Heard): boolean {
  const { domain, from, until } = bad.dns;
  return channel === 'slack' && from <= at && at < until + dnsForgottenMs && domains.includes(domain);
}

/** The benchmark: every message of the runs on standard error, and the figures. */
export async function noiseBenchmark({ small: isSmall }: BenchOptions): Promise<readonly Figure[]> {
  const scale = isSmall ? small : whole;
  const weeks = scale.days / 7;
  const figures: Figure[] = [];
  const add = (figure: string, ours: number, peer: number | null) =>
    figures.push(heldAgainst({ bench, figure, ours, peer }));
  for (const mode of healthyModes) {
    const { heard, alerts, actions } = await lived({ mode, ...scale, seed, ...quiet });
    const slack = heard.filter(({ channel }) => channel === 'slack');
    say(`healthy, ${mode}`, slack);
    const others = slack.filter((one) => !isOfAction(one)).length;
    add(`healthy_${mode}/other_messages_a_week`, others / weeks, (alerts - actions) / weeks);
    add(`healthy_${mode}/messages_about_actions`, slack.length - others, actions);
  }
  const { heard, alerts } = await lived({ mode: 'balanced', ...scale, seed, ...bad });
  say('with troubles', heard);
  for (const channel of channels)
    add(`troubles/${channel}_messages`, heard.filter((one) => one.channel === channel).length, alerts);
  const byIncident = Map.groupBy(
    heard.filter(({ incident }) => incident !== null),
    ({ incident, channel }) => `${channel} ${incident}`,
  );
  const most = Math.max(0, ...[...byIncident.values()].map((messages) => messages.length));
  add('troubles/most_messages_an_incident', most, null);
  add('troubles/dns_failure_messages', heard.filter(isOfDns).length, null);
  return figures;
}

function say(run: string, heard: readonly Heard[]): void {
  process.stderr.write(`\n${run}: ${heard.length} messages\n`);
  for (const { at, channel, title } of heard) {
    process.stderr.write(`${new Date(at).toISOString().slice(0, 16)}  ${channel.padEnd(9)}  ${title}\n`);
  }
}
