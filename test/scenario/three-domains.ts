// The fleet of three domains that several scenarios trouble: settled mailboxes, asked seldom, so that hours pass quickly.
import type { MailboxSpec } from '../../tools/simulator/scenario.ts';

const domains = ['northbeam.example', 'brightpath.example', 'cedarlane.example'];
export const poll = {
  health: '7 * * * *',
  mailboxes: '3 * * * *',
  stats: '*/15 * * * *',
  warmup: '*/30 * * * *',
  mailbox: '20 15 * * *',
  dns: '25 19 * * *',
  blacklist: '35 15 * * *',
};

/** Settled mailboxes that send 40 emails a working day from 9 to 17: about five an hour. */
export function settled(number: number, mode: MailboxSpec['mode'] = 'balanced'): MailboxSpec {
  return { email: `m${number}@${domains[number % 3]}`, provider: 'google', mode, startedDaysAgo: 60 };
}
