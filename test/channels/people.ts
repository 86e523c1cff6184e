// Messages that the tests of every channel for people render: one, several, a storm, an incident, with names that attack.
import { type GroupMessage, incidentMessageOf, messageOf } from '../../src/alerts/grouping.ts';
import { messageIncident } from '../../src/alerts/incident-message.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import type { MessageIncident } from '../../src/core/incident.ts';
import { hourMs } from '../../src/core/time.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';

export const page = 'https://warden.example';
export const people = { pageUrl: page, publicUrl: page, timeZone: () => 'UTC' } as const;

export function messageWith(transitions: readonly Transition[]): GroupMessage {
  const message = messageOf('acme|stale_data', transitions, start);
  if (!message) throw new Error('a message is about something');
  return message;
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

/** Mailboxes that one provider rejects. */
export function messageAbout(count: number, step: MessageIncident['step'], transitions: readonly Transition[] = []) {
  const incident = sampleIncident(count, { endedAt: step === 'ended' ? start + hourMs : null });
  const look = { now: start, zone: 'UTC', pageUrl: page, firing: [] };
  const restOf = () => ({ sharing: 3, changed: 0, others: 40 });
  return incidentMessageOf(messageIncident(incident, step, incident.members, { ...look, restOf }), transitions, start);
}

export const incidentMessage = (step: MessageIncident['step']) =>
  messageAbout(16, step, [{ kind: 'event', at: start, alert: incidentAlert }]);

/** A pause of Warmwarden, with the mailbox's page. */
export function pauseOf(outcome: string, action = 'pause'): Transition {
  const { facts } = alertNamed('bob@acme.example');
  const numbers = { ...facts.numbers, action, outcome, runbook_url: `${page}/runbooks#guard_acted` };
  const title = `bob1@acme.example: warm-up paused`;
  const about = { rule: 'guard_acted', severity: 'critical', object: `a1:${outcome}` } as const;
  return { kind: 'event', at: start, alert: sampleAlert(1, { ...about, facts: { ...facts, title, numbers } }) };
}
