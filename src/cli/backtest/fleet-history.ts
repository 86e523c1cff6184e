// Asks the mailbox API for the past of every selected mailbox, within the account's budget.

import { type Answered, MailboxApi } from '../../api/client.ts';
import type { Failure } from '../../api/http/failure.ts';
import { takeSlot } from '../../api/slot.ts';
import type { AccountConfig } from '../../config/config.ts';
import { selects } from '../../config/mailbox-rules.ts';
import type { MailboxEntry, MailboxList, Observed, Route } from '../../core/answers.ts';
import type { Past } from '../../core/guard/replay.ts';
import { noTally } from '../../core/tally.ts';
import { secondMs } from '../../core/time.ts';
import type { World } from '../../world/world.ts';

/** Mailboxes read at the same time: enough to use up a budget of 500 a minute on a slow API. */
const lanes = 4;
const attempts = 3;
const waitBetweenAttemptsMs = 2 * secondMs;

export interface MailboxHistory {
  readonly account: AccountConfig;
  readonly id: string;
  readonly email: string;
  /** Or why there is none, in a sentence. */
  readonly past: Past | { readonly failure: string };
}

export interface AccountHistory {
  readonly mailboxes: readonly MailboxHistory[];
  /** What is wrong with the account as a whole, in a sentence. */
  readonly failure: string | null;
}

export interface Reading {
  readonly world: World;
  /** 1 to 90. */
  readonly days: number;
  /** Mailboxes that were found, and that are done. */
  readonly onProgress: (found: number, done: number) => void;
}

/** The histories of an account's mailboxes in the order of its list. Never rejects for what the API does. */
export async function readAccount(account: AccountConfig, reading: Reading): Promise<AccountHistory> {
  const api = new MailboxApi({ ...account, account: account.name }, reading.world, noTally);
  try {
    const list = await ask(api, reading.world, 'mailboxes', () => api.mailboxes());
    if (!list.ok) return { mailboxes: [], failure: `account ${account.name}: ${list.failure.detail}` };
    const entries = list.value.answer.mailboxes.filter((entry) => selects(account, entry));
    const mailboxes = await readMailboxes(api, account, entries, reading);
    return { mailboxes, failure: problemOf(account, list.value, entries.length) };
  } finally {
    await api.close();
  }
}

function problemOf(account: AccountConfig, list: Observed<MailboxList>, selected: number): string | null {
  if (list.answer.truncated)
    return `account ${account.name}: its list of mailboxes has further pages, which are left out`;
  if (selected === 0) return `account ${account.name}: no mailbox of its list is selected`;
  return null;
}

async function readMailboxes(
  api: MailboxApi,
  account: AccountConfig,
  entries: readonly MailboxEntry[],
  reading: Reading,
): Promise<readonly MailboxHistory[]> {
  const histories = new Map<MailboxEntry, MailboxHistory>();
  const waiting = [...entries];
  const lane = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      const past = await readPast(api, reading, entry.id);
      histories.set(entry, { account, id: entry.id, email: entry.email, past });
      reading.onProgress(entries.length, histories.size);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return entries.flatMap((entry) => histories.get(entry) ?? []);
}

async function readPast(api: MailboxApi, { world, days }: Reading, id: string): Promise<MailboxHistory['past']> {
  const warmup = await ask(api, world, 'warmup', () => api.warmup(id));
  if (!warmup.ok) return { failure: warmup.failure.detail };
  const stats = await ask(api, world, 'stats', () => api.stats(id, null, days));
  if (!stats.ok) return { failure: stats.failure.detail };
  const { rows } = stats.value.answer;
  if (rows === null) return { failure: 'its statistics are not a list of days' };
  const { mode, config } = warmup.value.answer;
  return { mode, weekdaysOnly: config.weekdaysOnly === true, rows, now: stats.value.at };
}

/** One request in its slot of the budget; what may pass is tried again. */
async function ask<Answer>(api: MailboxApi, world: World, kind: Route, send: () => Answered<Answer>): Answered<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    await takeSlot(api.budget, kind, world.clock);
    const result = await send();
    if (result.ok || attempt === attempts || !mayPass(result.failure)) return result;
    if (result.failure.kind === 'unavailable') await world.clock.sleep(waitBetweenAttemptsMs);
  }
}

function mayPass(failure: Failure): boolean {
  return failure.kind === 'throttled' || failure.kind === 'unavailable';
}
