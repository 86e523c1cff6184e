// Incidents as large as a fleet may be.
import { expect, test } from 'vitest';
import { belongingTo, incidentOf, incidentsAfter } from '../../src/alerts/incidents.ts';
import { affected } from './incident-samples.ts';
import { sampleAlert, start } from './samples.ts';

test('what a provider does to 10,000 mailboxes at once is one incident, and each of their alerts belongs to it', () => {
  const all = Array.from({ length: 10_000 }, (_, index) =>
    affected(index, { domain: `d${index}.example`, provider: 'google' }),
  );
  const facts = { now: start, lasting: new Set<string>(), idOf: () => 'inc', sharing: () => 0 };
  const begun = incidentsAfter({ ...facts, open: [], affected: new Map(all.map((one) => [one.key, one])) });
  expect(begun.map(({ cause, members }) => [cause.attribute, members.length])).toEqual([['provider', all.length]]);
  const belonging = belongingTo(begun, { heldKeys: () => [], shows: () => false });
  const isOfIt = all.filter(({ mailbox: { account, mailboxId } }) => {
    const alert = sampleAlert(0, { rule: 'bounce_over_limit', account, mailboxId });
    return incidentOf({ kind: 'firing', at: start, alert }, belonging) === begun[0];
  });
  expect(isOfIt).toHaveLength(all.length);
});
