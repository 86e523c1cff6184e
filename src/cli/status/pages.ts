// The pages of a fleet as one answer.
import type { FleetAnswer } from '../../web/json/fleet-answer.ts';
import { NoDaemonError } from '../sources/sign-of-life.ts';

type NextPage = (cursor: string) => FleetAnswer | null | Promise<FleetAnswer | null>;

/** All pages as one. */
export async function joined(first: FleetAnswer, page: NextPage): Promise<FleetAnswer> {
  const mailboxes = [...first.mailboxes];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = await page(cursor);
    if (!next) throw new NoDaemonError('The daemon ended before it had answered.');
    mailboxes.push(...next.mailboxes);
    cursor = next.next_cursor;
  }
  return { ...first, mailboxes, next_cursor: null };
}
