// Emergencies that the circuit breaker holds are announced at once and bounded, also where an incident has the rest.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { incidentRig, type Rig } from './incident-rig.ts';

const api = 'https://api.example/';

/** What the breaker holds, of which so many are emergencies. */
function held(mailboxes: number, emergencies: number) {
  const subject = { rule: 'guard_held', account: '', mailboxId: null, email: null, object: api } as const;
  const facts = { title: `${mailboxes} held`, sentences: [], numbers: { held: mailboxes, emergencies } };
  return sampleAlert(0, { ...subject, severity: 'critical', facts });
}

function holds(at: Rig, mailboxes: number, emergencies: number, urgent = false): void {
  const transition = { ...firing(held(mailboxes, emergencies), at.now()), kind: 'worsened' as const };
  at.commit(urgent ? { ...transition, urgent } : transition);
}

const titles = ({ sent }: Rig) =>
  sent.map(({ message }) => message.transitions.map(({ alert }) => alert.facts.title).join());

test('the first one is sent after the group wait, however recent the message before; those that follow share the next', async () => {
  const at = incidentRig();
  at.commit(firing(held(5, 0), at.now()));
  await at.run(minuteMs);
  holds(at, 6, 1, true);
  await at.run(minuteMs);
  expect(titles(at)).toEqual(['5 held', '6 held']);
  for (const more of [2, 3, 4, 5]) {
    holds(at, 5 + more, more);
    await at.run(30 * secondMs);
  }
  expect(titles(at)).toEqual(['5 held', '6 held']);
  await at.run(5 * minuteMs);
  expect(titles(at)).toEqual(['5 held', '6 held', '10 held']);
});

test('a message of an incident does not keep them', async () => {
  const at = incidentRig();
  const hour = '09:40';
  const hold = (ids: readonly string[]) =>
    at.fleet.putBreaker(api, {
      openSince: at.now(),
      atFirstSight: false,
      trickle: [],
      released: [],
      entries: ids.map((id) => ({
        key: `acme/${id}`,
        account: 'acme',
        email: `${id}@google.example`,
        domain: 'google.example',
        at: at.now(),
        held: true,
        firstSight: false,
        weight: 2,
      })),
    });
  await at.play(['g0-0', 'g1-0', 'g2-0', 'g3-0', 'g4-0'].map((id) => `${hour} recovery ${id}`).join('\n'));
  hold(['g0-0', 'g1-0']);
  at.commit(firing(held(2, 0), at.now()));
  await at.run(10 * minuteMs);
  const inIncident = at.sent.filter(({ message }) =>
    message.transitions.some(({ alert }) => alert.rule === 'guard_held'),
  );
  expect(inIncident.map(({ message }) => message.incident?.step)).toEqual(['began']);
  const before = at.sent.length;
  holds(at, 2, 1, true);
  await at.run(minuteMs);
  expect(at.sent.slice(before).map(({ message }) => [message.incident, message.rule, message.kind])).toEqual([
    [null, 'guard_held', 'worsened'],
  ]);
});
