// `channels resend`: undelivered messages are sent once more, exactly those that were planned, as they were.

import type { WhichUndelivered } from '../model/delivery.ts';
import type { CommandOutcome, ResendRequest } from '../model/operator-command.ts';
import { counted, listText } from '../wording/phrases.ts';
import type { Audited } from './audit.ts';
import { invalid, noChange, stopsAt } from './plan.ts';

/** What the notifier offers. */
export interface Undelivered {
  /** The names of the configured channels. */
  channels(): readonly string[];
  find(which: WhichUndelivered): Promise<readonly { readonly id: string; readonly channel: string }[]>;
  /** Sends those of them that are still undelivered. Returns how many, by channel. */
  resend(ids: readonly string[]): Promise<readonly { readonly channel: string; readonly count: number }[]>;
}

export function resendCommand(undelivered: Undelivered, audited: Audited) {
  return async (request: ResendRequest): Promise<CommandOutcome> => {
    const { channel, delivery } = request;
    const names = undelivered.channels();
    if (channel !== null && !names.includes(channel)) {
      return invalid(`No channel is called ${channel}. The channels are: ${names.join(', ') || 'none'}.`);
    }
    const found = await undelivered.find({ channel, delivery });
    if (found.length === 0 && delivery !== null) return invalid(`No undelivered message has the id ${delivery}.`);
    if (found.length === 0) return noChange('Nothing to send: no message is undelivered.');
    const byChannel = [...Map.groupBy(found, (one) => one.channel)].map(([name, all]) => `${all.length} to ${name}`);
    const effect = `Warmwarden will send ${counted(found.length, 'undelivered message')} again: ${listText(byChannel)}.`;
    const ids = found.map(({ id }) => id);
    const stopped = stopsAt({ effect: [effect], about: ids.toSorted() }, request);
    if (stopped) return stopped;
    const command = ['channels resend', delivery ?? channel ?? ''].join(' ').trim();
    return audited(request, { name: 'channels-resend', command, account: null, mailboxes: [] }, async () => {
      const counts = await undelivered.resend(ids);
      if (counts.length === 0) return noChange('Nothing to send: no message is undelivered any more.');
      const messages = counts.map((one) => `${one.channel}: sending ${counted(one.count, 'message')} again.`);
      return { result: 'done', messages };
    });
  };
}
