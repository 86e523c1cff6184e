// The mailboxes that scenarios use: a small agency's, by name, and as many more as wanted.
import type { WarmupMode } from './ramp.ts';
import type { MailboxSpec, Provider } from './scenario.ts';

/**
 * Twelve mailboxes on six domains. The first two are the ones that the bounce storm hits: a settled one that sends
 * its 36 emails between 9 and 12, and a week-old one that sends 27 between 12 and 15 and had at least 100 emails before.
 */
export const agencyFleet: readonly MailboxSpec[] = [
  {
    email: 'amelia.ward@northbeam.example',
    provider: 'google',
    mode: 'balanced',
    startedDaysAgo: 25,
    sendWindow: [9, 12],
  },
  {
    email: 'jonas.keller@brightpath.example',
    provider: 'microsoft',
    mode: 'aggressive',
    startedDaysAgo: 7,
    weekdaysOnly: false,
    sendWindow: [12, 15],
  },
  { email: 'oliver.hart@northbeam.example', provider: 'google', mode: 'balanced', startedDaysAgo: 33 },
  { email: 'lena.brandt@brightpath.example', provider: 'microsoft', mode: 'balanced', startedDaysAgo: 18 },
  { email: 'priya.shah@cedarlane.example', provider: 'google', mode: 'aggressive', startedDaysAgo: 38 },
  { email: 'marco.rossi@cedarlane.example', provider: 'google', mode: 'slow', startedDaysAgo: 12 },
  { email: 'sofia.lindqvist@fernhill.example', provider: 'zoho', mode: 'balanced', startedDaysAgo: 25 },
  { email: 'daniel.okafor@fernhill.example', provider: 'zoho', mode: 'slow', startedDaysAgo: 30 },
  { email: 'claire.dubois@harborlight.example', provider: 'google', mode: 'balanced', startedDaysAgo: 14 },
  { email: 'tomas.novak@harborlight.example', provider: 'google', mode: 'aggressive', startedDaysAgo: 29 },
  {
    email: 'hannah.price@quarrystone.example',
    provider: 'custom',
    mode: 'recovery',
    startedDaysAgo: 21,
    weekdaysOnly: false,
  },
  { email: 'samuel.ito@quarrystone.example', provider: 'custom', mode: 'slow', startedDaysAgo: 10 },
];

const firstNames = ['ada', 'ben', 'carla', 'dev', 'elif', 'finn', 'greta', 'hugo', 'ines', 'jack', 'kira', 'liam'];
const lastNames = ['moss', 'reyes', 'stone', 'varga', 'wolf', 'young', 'adler', 'baker', 'costa', 'dale', 'egan'];
const providers: readonly Provider[] = ['google', 'microsoft', 'google', 'zoho', 'microsoft', 'custom'];
const modes: readonly WarmupMode[] = ['balanced', 'slow', 'balanced', 'aggressive', 'balanced', 'recovery', 'slow'];

/** `mailboxes` invented ones over `domains` domains, always the same for the same numbers. */
export function generatedFleet(mailboxes: number, domains: number): MailboxSpec[] {
  return Array.from({ length: mailboxes }, (_, index) => {
    const domain = index % domains;
    const first = firstNames[index % firstNames.length];
    const last = lastNames[Math.floor(index / firstNames.length) % lastNames.length];
    return {
      email: `${first}.${last}.${index + 1}@outreach-${domain + 1}.example`,
      provider: providers[domain % providers.length] ?? 'custom',
      mode: modes[index % modes.length] ?? 'balanced',
      startedDaysAgo: 10 + ((index * 7) % 31),
      weekdaysOnly: index % 3 !== 0,
    };
  });
}

/** The agency's mailboxes first, then invented ones, `mailboxes` in all. */
export function fleetOf(mailboxes: number, domains = Math.ceil(mailboxes / 3)): MailboxSpec[] {
  const named = agencyFleet.slice(0, mailboxes);
  return [...named, ...generatedFleet(mailboxes - named.length, domains)];
}
