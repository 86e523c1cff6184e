// People's wishes, carried out on the accounts that they are about.
import type { Fleet } from '../fleet/fleet.ts';
import type { HandOutcome, Hands, ReleaseRequest } from '../model/hand.ts';
import { isCalled, type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { AccountWatch } from './account-watch.ts';

/** The hands over all accounts of a daemon. */
export function createHands(watches: readonly AccountWatch[], fleet: Fleet): Hands {
  const watchOf = (account: string) => watches.find((watch) => watch.account === account);
  const judgeAgain = async (mailboxes: Iterable<MailboxState>) => {
    for (const { account, id } of mailboxes) await watchOf(account)?.judgeAgain(id);
  };

  const releaseBreakers = async (wish: ReleaseRequest): Promise<HandOutcome> => {
    const released: string[] = [];
    // One watch for each API: the breaker is shared by all of its accounts.
    for (const watch of new Map(watches.map((one) => [one.api, one])).values()) {
      released.push(...(await watch.releaseBreaker(wish)));
    }
    if (released.length === 0)
      return { done: false, said: ['The breaker holds nothing: there is nothing to release.'] };
    await judgeAgain([...fleet.mailboxes()].filter(({ account, id }) => released.includes(mailboxKey(account, id))));
    return {
      done: true,
      said: [`Released: ${released.length} mailboxes are acted on now. \`/\` of the page shows them.`],
    };
  };

  return {
    async release(wish) {
      if (wish.mailbox === null) return releaseBreakers(wish);
      const name = wish.mailbox;
      const found = [...fleet.mailboxes()].filter((mailbox) => isCalled(name, mailbox));
      const [mailbox] = found;
      if (!mailbox) return { done: false, said: [`No mailbox is called ${name}.`] };
      if (found.length > 1) {
        const names = found.map(({ account, email }) => `${account}/${email}`);
        return { done: false, said: [`${name} stands for several: name one of ${names.join(', ')}.`] };
      }
      const released = await watchOf(mailbox.account)?.releaseContest(mailbox, wish);
      if (!released)
        return { done: false, said: [`Nobody took back what the guard changed on ${mailbox.email} lately.`] };
      await judgeAgain([mailbox]);
      return { done: true, said: [`Released: the guard may act on ${mailbox.email} again.`] };
    },
  };
}
