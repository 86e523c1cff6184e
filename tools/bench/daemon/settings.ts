// Configurations that differ from the defaults only where a benchmark has to.
import type { Settings } from './daemon.ts';

/** Once the sweep after the start is over there is nothing to ask for. */
export const resting: Settings = {
  poll: {
    ...{ health: '0 0 1 1 *', mailboxes: '0 0 1 1 *', stats: '0 0 1 1 *', warmup: '0 0 1 1 *', mailbox: '0 0 1 1 *' },
    ...{ dns: '0 0 1 1 *', blacklist: '0 0 1 1 *', stats_interval_min: '0s' },
  },
};

/**
 * The shipped cadences, about 900 times as fast (a list and a health check each second), and spare requests without a rest
 * between two of a mailbox: more than the daemon can do, however few mailboxes there are.
 */
export const saturating: Settings = {
  accounts: { requests_per_minute: 100_000, headroom: '0%' },
  poll: {
    health: '* * * * * *',
    mailboxes: '* * * * * *',
    stats: '* * * * * *',
    warmup: '*/2 * * * * *',
    mailbox: '5,29,53 * * * * *',
    dns: '17,41 * * * * *',
    blacklist: '9,33,57 * * * * *',
    stats_interval_min: '1ms',
  },
};
