// The scenarios that ship. Their hours are written for a start at 08:30 UTC on a Tuesday.
import { agencyFleet } from './agency-fleet.ts';
import type { Scenario } from './scenario.ts';

/** A Tuesday at 08:30 UTC: start the clock here and the scenarios happen at the hours they name. */
export const scenarioStart = Date.UTC(2026, 2, 10, 8, 30);

const hourMs = 3_600_000;

/** Milliseconds after 08:30 for an hour of the first day (9.5 is 09:30). */
const at = (hour: number) => (hour - 8.5) * hourMs;

const calm: Scenario = {
  name: 'calm',
  summary: 'Nothing goes wrong: no mailbox ever exceeds its limit.',
  fleet: agencyFleet,
  incidents: [],
};

/**
 * Every sixth of the 18 mails that Amelia sends by 10:30: three bounces, at most one of them late. Two are over the
 * 1 % of the 160 mails of her week, and three are under a tenth of her day's 36, whichever days are pooled.
 * 80 % of Jonas's mails: at the third bounce he has sent at most 5 mails today after 25 yesterday (an emergency),
 * while two bounces are under 2 % of the 111 mails of his week, so no lesser verdict comes first.
 */
const bounceStorm: Scenario = {
  name: 'bounce-storm',
  summary: 'One mailbox drifts over its limit at 9, another burns at 12, then a listing, a DNS break and a lost login.',
  fleet: agencyFleet,
  incidents: [
    { kind: 'bounce', mailbox: 'amelia.ward@northbeam.example', rate: 1 / 6, from: at(9), until: at(10.5) },
    { kind: 'bounce', mailbox: 'jonas.keller@brightpath.example', rate: 0.8, from: at(12), until: at(24) },
    { kind: 'dns', mailbox: '*@fernhill.example', records: ['dkim'], from: at(13), until: at(32) },
    { kind: 'listing', mailbox: '*@brightpath.example', lists: ['zen.spamhaus.org'], from: at(14), until: at(48) },
    {
      kind: 'disconnect',
      mailbox: 'samuel.ito@quarrystone.example',
      error: 'IMAP login failed: invalid credentials',
      from: at(14.5),
      until: at(34),
    },
  ],
};

const providerBlock: Scenario = {
  name: 'provider-block',
  summary: 'From noon every mail of every Google mailbox is refused, until the next morning.',
  fleet: agencyFleet,
  incidents: [{ kind: 'block', mailbox: '*', provider: 'google', from: at(12), until: at(32) }],
};

/** Every scenario by its name. */
export const scenarios = { calm, 'bounce-storm': bounceStorm, 'provider-block': providerBlock } as const;

export type ScenarioName = keyof typeof scenarios;
