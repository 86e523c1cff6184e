import { expect, test } from 'vitest';
import { messageIncident } from '../../src/alerts/incident-message.ts';
import { noAccount } from '../../src/core/alert.ts';
import { sampleIncident } from './incident-samples.ts';
import { sampleAlert, start } from './samples.ts';

const incident = sampleIncident(4);
const look = { now: start, zone: 'UTC', pageUrl: null };
const hold = (accounts: readonly string[], numbers: Record<string, string>) =>
  sampleAlert(0, {
    rule: 'guard_held',
    account: noAccount,
    object: 'https://api.example',
    facts: { title: '', sentences: [], numbers, accounts },
  });

function sentencesWith(...firing: ReturnType<typeof hold>[]): string {
  return sentencesAbout(incident.members, firing);
}

function sentencesAbout(members: typeof incident.members, firing: readonly ReturnType<typeof hold>[] = []): string {
  const restOf = () => ({ sharing: 0, changed: 0, others: 0 });
  return messageIncident(incident, 'began', members, { ...look, firing, restOf }).sentences.join('\n');
}

test('an incident with a held mailbox says when Warmwarden acts there, or that it waits for a person', () => {
  const mine = hold(['other', 'acme'], { acts_from: '2026-03-20T11:02:00.000Z' });
  expect(sentencesWith(mine)).toContain('acts step by step from 20 March 11:02 UTC');
  expect(sentencesWith(mine)).toContain('breaker discard api.example` voids');
  expect(sentencesWith(hold(['acme'], {}))).toContain('Unless you decide, Warmwarden does not act.');
  const elsewhere = hold(['other'], { acts_from: '2026-03-20T11:02:00.000Z' });
  expect(sentencesWith(elsewhere)).not.toMatch(/step by step|does not act/);
});

test('an incident says whether campaigns must stop now, or only if the bounces are real', () => {
  const allAre = (state: 'paused' | 'recovery') => incident.members.map((one) => ({ ...one, state }));
  expect(sentencesAbout(allAre('recovery'))).toContain(
    'If the bounces are real, take all 4 mailboxes out of the campaigns yourself.',
  );
  const allPaused = allAre('paused');
  expect(sentencesAbout(allPaused)).toContain('take it out of them yourself, now.');
  expect(sentencesAbout(allPaused)).not.toContain('If the bounces are real');
  const mixed = [
    ...allPaused.slice(0, 1),
    ...allAre('recovery').slice(1, 3),
    ...incident.members.slice(3).map((one) => ({ ...one, state: 'held' as const })),
  ];
  expect(sentencesAbout(mixed)).toContain(
    'take the other 3 mailboxes out of the campaigns yourself, those in recovery too.',
  );
  expect(sentencesAbout(incident.members.map((one) => ({ ...one, state: 'burst' as const })))).not.toContain(
    'campaigns',
  );
});
