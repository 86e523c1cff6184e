// A collector over a fleet that lives through recorded days, and what its channels were given to say.

import type { GroupMessage } from '../../src/alerts/grouping.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { messageTitle } from '../../src/channels/message-text.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import type { AlertRule } from '../../src/core/alert-rules.ts';
import type { RecentBounce } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { Collector, type NotifySettings } from '../../src/outbox/collector.ts';
import type { OutboxStore } from '../../src/outbox/outbox-store.ts';
import { movedClock, worldOn } from '../../src/world/world.ts';
import { about, acted, healthy, invalid, policyBlock } from '../alerts/incident-samples.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { type MemoryOutbox, memoryOutbox } from './memory-outbox.ts';

export const midnight = Date.parse('2026-03-20T00:00:00Z');
const dnsBlock: RecentBounce = { type: 'block', category: 'unauthenticated' };

export interface Sent {
  readonly channel: string;
  readonly message: GroupMessage;
  readonly title: string;
}

/** So long after something happened every look is taken. */
const busyMs = 40 * minuteMs;

/** Five domains of five mailboxes at google, one of five at microsoft, one of four at google. */
export function agency(account = 'acme'): readonly MailboxState[] {
  const of = (name: string, count: number, provider: string) =>
    Array.from({ length: count }, (_, number) =>
      named(healthy(number, { account, domain: `${name}.example`, provider }), `${name}-${number}`),
    );
  const google = [0, 1, 2, 3, 4].flatMap((number) => of(`g${number}`, 5, 'google'));
  return [...google, ...of('m0', 5, 'microsoft'), ...of('x', 4, 'google')];
}

const named = (mailbox: MailboxState, id: string): MailboxState => ({ ...mailbox, id });

interface Options {
  readonly settings?: Partial<NotifySettings>;
  readonly names?: readonly string[];
  readonly mailboxes?: readonly MailboxState[];
}

/** Rules and causes of the days' words. */
const rules: Readonly<Record<string, { readonly rule: AlertRule; readonly object?: string }>> = {
  over: { rule: 'bounce_over_limit' },
  score: { rule: 'reputation_low', object: 'health score' },
  inbox: { rule: 'reputation_low', object: 'inbox rate' },
  near: { rule: 'bounce_near_limit' },
};

export interface Rig {
  readonly fleet: Fleet;
  readonly store: MemoryOutbox;
  readonly sent: Sent[];
  now(): number;
  commit(...transitions: readonly Transition[]): void;
  put(mailbox: MailboxState): void;
  step(): Promise<number>;
  /** Plays a recorded day that begins at `from` midnight, looking every 30 s, and goes on until its end. */
  play(day: string, from?: number): Promise<void>;
  run(ms: number): Promise<void>;
  /** Another process: the picture as the store has it, and nothing else. */
  restart(loaded?: Fleet): void;
}

export function incidentRig({ settings = {}, names = ['ops'], mailboxes = agency() }: Options = {}): Rig {
  const clock = movedClock(midnight);
  const memory = memoryOutbox();
  const store: OutboxStore = memory;
  let fleet = new Fleet();
  for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
  const sent: Sent[] = [];
  const channels = names.map((name): Channel => {
    const render = (message: GroupMessage) => {
      const title = messageTitle(message);
      sent.push({ channel: name, message, title });
      return { payload: JSON.stringify(message), title };
    };
    const send = async () => ({ kind: 'sent' }) as const;
    const channel: Channel = { name, type: 'test', minGapMs: 0, renderNotice: () => null, render, send };
    return name === 'machine' ? channel : { ...channel, forPeople: true };
  });
  const inForce: NotifySettings = {
    groupWaitMs: 30 * secondMs,
    groupIntervalMs: 5 * minuteMs,
    repeatIntervalMs: { critical: 4 * hourMs, warning: null, info: null },
    routes: [],
    rules: defaultRuleSettings,
    ...settings,
  };
  const world = worldOn(clock, { level: 'silent', format: 'json' });
  const apiOf = () => 'https://api.example/';
  const begin = () =>
    new Collector({
      world,
      store,
      fleet,
      channels: () => channels,
      settings: () => inForce,
      pageUrl: 'http://page',
      apiOf,
      recorded: () => {},
    });
  let collector = begin();
  const commit = (...transitions: readonly Transition[]) => {
    for (const { kind, alert } of transitions) if (kind !== 'event') fleet.putAlert(alert);
    memory.commit(transitions);
    collector.noticed();
  };
  const rig: Rig = {
    get fleet() {
      return fleet;
    },
    store: memory,
    sent,
    now: () => clock.now(),
    commit,
    put: (mailbox) => fleet.putMailbox(mailbox),
    step: () => collector.step(),
    play: async (day, from = midnight) => {
      for (const line of day.trim().split('\n')) {
        const [time = '', what = '', whom = '', more = ''] = line.split(' ');
        const at = from + Number(time.slice(0, 2)) * hourMs + Number(time.slice(3)) * minuteMs;
        await rig.run(at - clock.now());
        happen({ what, whom, more }, rig);
      }
    },
    run: async (ms) => {
      const begin = clock.now();
      for (const end = begin + ms; clock.now() < end; ) {
        // Where nothing happens for long a look now and then is enough.
        const step = clock.now() - begin < busyMs ? 30 * secondMs : 10 * minuteMs;
        await clock.advance(Math.min(step, end - clock.now()));
        await collector.step();
      }
    },
    restart: (loaded = fleet) => {
      fleet = loaded;
      collector = begin();
    },
  };
  return rig;
}

function happen({ what, whom, more }: { what: string; whom: string; more: string }, rig: Rig): void {
  const { fleet, commit, now } = rig;
  if (what === 'dns' || what === 'domain') {
    commit(firing(domainAlert(what === 'dns' ? 'dns_failing' : 'shared_bounces', whom, now()), now()));
    return;
  }
  if (what === 'dnsok' || what === 'domainok') {
    commit(resolved(domainAlert(what === 'dnsok' ? 'dns_failing' : 'shared_bounces', whom, now()), now()));
    return;
  }
  const mailbox = fleet.mailbox('acme', whom);
  if (!mailbox) throw new Error(`the fleet has no ${whom}`);
  if (what === 'recovery' || what === 'pause') {
    const bounce = more === 'invalid' ? invalid : more === 'dns' ? dnsBlock : policyBlock;
    const after = acted(mailbox, now(), what, bounce);
    fleet.putMailbox(after.mailbox);
    commit(after.event);
    return;
  }
  if (what === 'ends') {
    const own = [...fleet.alerts()].filter(({ mailboxId }) => mailboxId === whom);
    commit(...own.map((alert) => resolved(alert, now())));
    return;
  }
  const told = rules[what];
  if (!told) throw new Error(`a day has no ${what}`);
  const { rule, object = null } = told;
  if (rule === 'bounce_over_limit') {
    const { warmup } = acted(mailbox, now()).mailbox;
    fleet.putMailbox({ ...mailbox, warmup });
  }
  const severity = rule === 'bounce_over_limit' ? 'critical' : rule === 'bounce_near_limit' ? 'info' : 'warning';
  commit(firing(about(mailbox, rule, now(), { severity, object }), now()));
}

function domainAlert(rule: 'dns_failing' | 'shared_bounces', domain: string, at: number): Alert {
  const isDns = rule === 'dns_failing';
  const title = `${domain}: ${isDns ? 'DKIM does not pass' : 'bounces over the limits of its mailboxes'}`;
  const facts = { title, sentences: [], numbers: {} };
  const subject = { rule, mailboxId: null, email: null, object: domain } as const;
  return sampleAlert(0, { ...subject, severity: isDns ? 'critical' : 'warning', since: at, firingAt: at, facts });
}
