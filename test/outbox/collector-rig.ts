// A collector over a fleet that lives through recorded days, and what its channels were given to say.

import type { GroupMessage } from '../../src/alerts/grouping.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { messageTitle } from '../../src/channels/message-text.ts';
import type { Alert, AlertMatch, Transition } from '../../src/core/alert.ts';
import type { AlertRule } from '../../src/core/alert-rules.ts';
import type { RecentBounce } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { Collector, type NotifySettings } from '../../src/outbox/collector.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { about, acted, healthy, invalid, policyBlock } from '../alerts/incident-samples.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { silentWorld } from '../support/silent-world.ts';
import { usualSettings } from './sample-delivery.ts';
import { testStore } from './test-store.ts';

export const midnight = Date.parse('2026-03-20T00:00:00Z');
const dnsBlock: RecentBounce = { type: 'block', category: 'unauthenticated' };

export interface Sent {
  readonly channel: string;
  readonly message: GroupMessage;
  readonly kind: string;
  readonly rule: string | null;
  /** The first five: what happened, and to which mailbox, or which rule says so. */
  readonly alerts: readonly string[];
  readonly total: number;
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
  /** People read every channel but `machine` and `recipe`, and `pager` keeps alerts open. */
  readonly names?: readonly string[];
  readonly mailboxes?: readonly MailboxState[];
  /** Where the clock begins. */
  readonly from?: number;
}

/** Rules and causes of the days' words. */
const rules: Readonly<Record<string, { readonly rule: AlertRule; readonly object?: string }>> = {
  over: { rule: 'bounce_over_limit' },
  score: { rule: 'reputation_low', object: 'health score' },
  inbox: { rule: 'reputation_low', object: 'inbox rate' },
  near: { rule: 'bounce_near_limit' },
};

export type Rig = ReturnType<typeof collectorRig>;

export function collectorRig({ settings = {}, names = ['ops'], mailboxes = agency(), from = midnight }: Options = {}) {
  const moved = movedClock(from);
  /** How far the wall clock is ahead. */
  const ahead = { ms: 0 };
  const clock = { ...moved, now: () => moved.now() + ahead.ms };
  const store = testStore();
  let fleet = new Fleet();
  for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
  const sent: Sent[] = [];
  const channelOf = (name: string): Channel => {
    const render = (message: GroupMessage) => {
      const { kind, rule, transitions } = message;
      const title = messageTitle(message);
      const alerts = transitions.slice(0, 5).map(({ kind, alert }) => `${kind} ${alert.mailboxId ?? alert.rule}`);
      sent.push({ channel: name, message, kind, rule, alerts, total: transitions.length, title });
      return { payload: JSON.stringify(message), title };
    };
    const send = async () => ({ kind: 'sent' }) as const;
    const channel: Channel = {
      name,
      type: name === 'recipe' ? name : 'test',
      minGapMs: 0,
      renderNotice: () => null,
      render,
      send,
    };
    if (name === 'pager') return { ...channel, keepsOpen: true };
    return name === 'machine' ? channel : { ...channel, skipsForetoldEnds: true };
  };
  let channels = names.map(channelOf);
  const inForce: NotifySettings = {
    ...usualSettings(channels),
    repeatIntervalMs: { critical: 4 * hourMs, warning: null, info: null },
    ...settings,
  };
  const world = silentWorld(clock);
  const configured = { channels: () => channels, settings: () => inForce, pageUrl: 'http://page' };
  const parts = { world, store, ...configured, apiOf: () => 'https://api.example/', recorded: () => {} };
  let collector = new Collector({ ...parts, fleet });
  const rig = {
    ahead,
    get fleet() {
      return fleet;
    },
    store,
    log: world.log,
    sent,
    now: () => clock.now(),
    hasNotified: (channel: string, alert: Alert) => collector.hasNotified(channel, alert),
    reload: (change: Partial<NotifySettings>) => Object.assign(inForce, change),
    rename: (...others: readonly string[]) => {
      channels = others.map(channelOf);
    },
    commit: (...transitions: readonly Transition[]) => {
      for (const { kind, alert } of transitions) if (kind !== 'event') fleet.putAlert(alert);
      store.commit(transitions);
      collector.noticed();
    },
    fire: (...alerts: readonly Alert[]) => rig.commit(...alerts.map((alert) => firing(alert, clock.now()))),
    end: (...alerts: readonly Alert[]) => rig.commit(...alerts.map((alert) => resolved(alert, clock.now()))),
    silence: (match: AlertMatch, forMs: number) =>
      fleet.putSilence({ id: 's', match, by: 'ann', reason: 'test', from: clock.now(), until: clock.now() + forMs }),
    put: (mailbox: MailboxState) => fleet.putMailbox(mailbox),
    /** Plays a recorded day that begins at `from` midnight, looking every 30 s, and goes on until its end. */
    play: async (day: string, from = midnight) => {
      for (const { minute, ...happening } of happeningsOf(day)) {
        await rig.run(from + minute * minuteMs - clock.now());
        happen(happening, rig);
      }
    },
    /** What was sent meanwhile. */
    run: async (ms: number): Promise<readonly Sent[]> => {
      const begin = clock.now();
      const before = sent.length;
      for (const end = begin + ms; clock.now() < end; ) {
        // Where nothing happens for long a look now and then is enough.
        const step = clock.now() - begin < busyMs ? 30 * secondMs : 10 * minuteMs;
        await clock.advance(Math.min(step, end - clock.now()));
        await collector.step();
      }
      return sent.slice(before);
    },
    /** Another process: the picture as the store has it, and nothing else. */
    restart: (loaded = fleet) => {
      fleet = loaded;
      collector = new Collector({ ...parts, fleet });
    },
  };
  return rig;
}

/** What a day's lines say, in the order in which it happens. */
function happeningsOf(day: string) {
  const all = day
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [time = '', what = '', them = '', more = ''] = line.split(' ');
      const start = Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
      return them.split(',').map((whom, later) => ({ minute: start + later, what, whom, more }));
    });
  return all.toSorted((one, other) => one.minute - other.minute);
}

function happen({ what, whom, more }: { what: string; whom: string; more: string }, rig: Rig): void {
  const { fleet, commit, now } = rig;
  const ends = what.endsWith('ok');
  const rule = what.startsWith('dns') ? 'dns_failing' : what.startsWith('domain') ? 'shared_bounces' : null;
  if (rule) {
    const alert = domainAlert(rule, whom, now());
    commit(ends ? resolved(alert, now()) : firing(alert, now()));
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
    rig.end(...[...fleet.alerts()].filter(({ mailboxId }) => mailboxId === whom));
    return;
  }
  const told = rules[what];
  if (!told) throw new Error(`a day has no ${what}`);
  const { rule: fires, object = null } = told;
  if (fires === 'bounce_over_limit') {
    const { warmup } = acted(mailbox, now()).mailbox;
    fleet.putMailbox({ ...mailbox, warmup });
  }
  const severity = fires === 'bounce_over_limit' ? 'critical' : fires === 'bounce_near_limit' ? 'info' : 'warning';
  commit(firing(about(mailbox, fires, now(), { severity, object }), now()));
}

function domainAlert(rule: 'dns_failing' | 'shared_bounces', domain: string, at: number): Alert {
  const isDns = rule === 'dns_failing';
  const title = `${domain}: ${isDns ? 'DKIM does not pass' : 'bounces over the limits of its mailboxes'}`;
  const facts = { title, sentences: [], numbers: {} };
  const subject = { rule, mailboxId: null, email: null, object: domain } as const;
  return sampleAlert(0, { ...subject, severity: isDns ? 'critical' : 'warning', since: at, firingAt: at, facts });
}
