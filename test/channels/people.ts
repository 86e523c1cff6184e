// Messages that the tests of every channel for people render: one, several, a storm, an incident, with names that attack.
import { type GroupMessage, messageOf } from '../../src/alerts/grouping.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import type { MessageIncident } from '../../src/core/incident.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';

export const page = 'https://warden.example';
export const people = { pageUrl: page, publicUrl: page, timeZone: () => 'UTC' } as const;

export function messageWith(transitions: readonly Transition[], incident: MessageIncident | null = null): GroupMessage {
  const message = messageOf('acme|stale_data', transitions, start);
  if (!message) throw new Error('a message is about something');
  return { ...message, incident };
}

export function alertNamed(name: string, change: Partial<Alert> = {}): Alert {
  const facts = {
    title: `${name}: stale`,
    sentences: [`${name} is stale.`, 'To undo this: `warmwarden resume acme/bob@acme.example`.'],
    numbers: { page_url: `${page}/mailboxes/acme/m1`, runbook_url: `${page}/runbooks#stale_data` },
  };
  return sampleAlert(1, { facts, ...change });
}

export const attack =
  '<!channel> @everyone <@123> [safe](https://evil.example) **x** `rm -rf` \u202egnp.exe\u0000 <b>&';

export const one = messageWith([firing(alertNamed('bob@acme.example'))]);
export const ended = messageWith([resolved(alertNamed('bob@acme.example'), start + 3_600_000)]);
export const attacking = messageWith([firing(alertNamed(attack))]);

/** 2,000 alerts with long sentences. */
export const storm = messageWith(
  Array.from({ length: 2_000 }, (_, number) => {
    const facts = {
      ...alertNamed('x').facts,
      title: `bob${number}@acme.example: stale`,
      sentences: [`${attack} `.repeat(60)],
    };
    return firing(sampleAlert(number, { facts }));
  }),
);

const incidentAlert = sampleAlert(1, { rule: 'guard_acted', severity: 'critical', object: 'a1:confirmed' });

/** 16 mailboxes that one provider rejects. */
export function incidentMessage(step: MessageIncident['step']): GroupMessage {
  const incident: MessageIncident = {
    id: 'inc_7Qx',
    step,
    title: 'hard bounces of 16 mailboxes on 5 domains since 20 March 09:40 UTC, common to all: provider google',
    sentences: [
      'Warmwarden switched 12 of them to recovery mode and holds 4.',
      'Look at the sending reputation with google.',
    ],
    cause: { attribute: 'provider', value: 'google' },
    kind: 'hard',
    severity: 'critical',
    beganAt: start - 1_320_000,
    endedAt: step === 'ended' ? start : null,
    memberCount: 16,
    domainCount: 5,
    worst: Array.from({ length: 5 }, (_, number) => ({
      account: 'acme',
      mailboxId: `m${number}`,
      email: `bob${number}@acme.example`,
      line: `bob${number}@acme.example: switched to recovery mode at 09:41 UTC`,
    })),
    pageUrl: `${page}/incidents/inc_7Qx`,
  };
  return messageWith([{ kind: 'event', at: start, alert: incidentAlert }], incident);
}

/** A pause of Warmwarden, with the mailbox's page. */
export function pauseOf(outcome: string, action = 'pause'): Transition {
  const { facts } = alertNamed('bob@acme.example');
  const numbers = { ...facts.numbers, action, outcome, runbook_url: `${page}/runbooks#guard_acted` };
  const title = `bob1@acme.example: warm-up paused`;
  const about = { rule: 'guard_acted', severity: 'critical', object: `a1:${outcome}` } as const;
  return { kind: 'event', at: start, alert: sampleAlert(1, { ...about, facts: { ...facts, title, numbers } }) };
}
