// The scenarios that ship. Their hours are written for a start at 08:30 UTC on a Tuesday.
import { agencyFleet } from './agency-fleet.ts';
import type { Incident, Scenario } from './scenario.ts';

/** A Tuesday at 08:30 UTC: start the clock here and the scenarios happen at the hours they name. */
export const scenarioStart = Date.UTC(2026, 2, 10, 8, 30);

const hourMs = 3_600_000;

/** Milliseconds after 08:30 for an hour of the first day (9.5 is 09:30). */
const at = (hour: number) => (hour - 8.5) * hourMs;

const calm: Scenario = {
  name: 'calm',
  summary: 'Nothing goes wrong: no mailbox ever exceeds its bounce limit.',
  fleet: agencyFleet,
  incidents: [],
};

/**
 * Every sixth of the 18 emails that Amelia sends by 10:30: three bounces, at most one of them late. Two are over the
 * 1% of the 160 emails of her week, and three are under a tenth of her day's 36, whichever days are pooled.
 * 80% of Jonas's emails: at the third bounce he has sent at most 5 emails today after 25 yesterday (an emergency),
 * while two bounces are under 2% of the 111 emails of his week, so no lesser verdict comes first.
 */
const bounceStorm: Scenario = {
  name: 'bounce-storm',
  summary:
    'One mailbox drifts over its bounce limit at 9, another bounces heavily at 12, then come DNS failures, a listing and a lost login.',
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
  summary: 'From noon until the next morning, every email from every Google mailbox is refused.',
  fleet: agencyFleet,
  incidents: [{ kind: 'block', mailbox: '*', provider: 'google', from: at(12), until: at(32) }],
};

const dnsBreak: Scenario = {
  name: 'dns-break',
  summary: 'One domain loses its SPF and DKIM records at 10, another its DMARC at 11; all are back the next morning.',
  fleet: agencyFleet,
  incidents: [
    { kind: 'dns', mailbox: '*@cedarlane.example', records: ['spf', 'dkim'], from: at(10), until: at(33) },
    { kind: 'dns', mailbox: '*@harborlight.example', records: ['dmarc'], from: at(11), until: at(33) },
  ],
};

const listingWave: Scenario = {
  name: 'listings',
  summary:
    'The addresses of two domains get onto blacklists at 10 and at 12, one of them onto two; a day later they are off.',
  fleet: agencyFleet,
  incidents: [
    { kind: 'listing', mailbox: '*@fernhill.example', lists: ['zen.spamhaus.org'], from: at(10), until: at(36) },
    {
      kind: 'listing',
      mailbox: '*@cedarlane.example',
      lists: ['b.barracuda', 'bl.spamcop'],
      from: at(12),
      until: at(36),
    },
  ],
};

const disconnections: Scenario = {
  name: 'disconnections',
  summary: 'From 10, every Google login fails for two hours, and one mailbox stays disconnected until the next day.',
  fleet: agencyFleet,
  incidents: [
    { kind: 'disconnect', mailbox: '*', provider: 'google', error: 'OAuth token expired', from: at(10), until: at(12) },
    { kind: 'disconnect', mailbox: 'samuel.ito@*', error: 'IMAP login failed', from: at(10), until: at(33) },
  ],
};

const quietWeekend: Scenario = {
  name: 'quiet-weekend',
  summary: 'No mailbox sends from Friday evening to Monday morning, and the statistics do not change.',
  fleet: agencyFleet.map((mailbox) => ({ ...mailbox, weekdaysOnly: true, sendWindow: [9, 17] })),
  incidents: [],
};

const servicePause: Scenario = {
  name: 'service-pause',
  summary: 'The service itself pauses two mailboxes from 10 to 15, one of them in the middle of a bounce storm.',
  fleet: agencyFleet,
  incidents: [
    { kind: 'service_pause', mailbox: 'amelia.ward@northbeam.example', from: at(10), until: at(15) },
    { kind: 'bounce', mailbox: 'amelia.ward@northbeam.example', rate: 0.5, from: at(9.75), until: at(12) },
    { kind: 'service_pause', mailbox: 'oliver.hart@northbeam.example', from: at(10), until: at(15) },
  ],
};

const year: Scenario = {
  name: 'year',
  summary: 'Every fourth week, something goes wrong with another mailbox; in between, nothing does.',
  fleet: agencyFleet,
  incidents: agencyFleet.flatMap(({ email }, index) => {
    const day = 28 * index + 6;
    const [from, until] = [at(24 * day + 9), at(24 * day + 17)];
    const troubles: readonly Incident[] = [
      { kind: 'bounce', mailbox: email, rate: 0.2, from, until },
      { kind: 'dns', mailbox: email, records: ['spf'], from, until },
      { kind: 'listing', mailbox: email, lists: ['zen.spamhaus.org'], from, until },
      { kind: 'disconnect', mailbox: email, error: 'IMAP login failed', from, until },
    ];
    const trouble = troubles[index % troubles.length];
    return trouble ? [trouble] : [];
  }),
};

/** Every scenario by its name. */
export const scenarios = {
  calm,
  'bounce-storm': bounceStorm,
  'provider-block': providerBlock,
  'dns-break': dnsBreak,
  listings: listingWave,
  disconnections,
  'quiet-weekend': quietWeekend,
  'service-pause': servicePause,
  year,
} as const;

export type ScenarioName = keyof typeof scenarios;
