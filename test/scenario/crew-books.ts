// What rounds of faults are held to: the rows and the requests say that nothing happened twice and nothing was lost.
import { ChangeBook } from '../soak/change-book.ts';
import { MessageBook } from '../soak/message-book.ts';
import type { Crew } from '../support/crew.ts';
import type { OtherMailbox } from '../support/other-api.ts';
import type { Round, Touched } from './crew-round.ts';

interface ActionRow {
  readonly email: string;
  readonly state: string;
  /** What it is, how often it was tried and what came back, for people. */
  readonly text: string;
  /** POSTs sent or about to be sent. */
  readonly attempts: number;
}

/** What is not as it should be; each list is empty when all is well. */
export interface Findings {
  /** Breaches that have not exactly one action, which is confirmed. */
  readonly notActedOnce: readonly string[];
  /** Breaches whose action was not told under one id. */
  readonly notToldOnce: readonly string[];
  /** Commands that ran twice, or are said to be done and did not run. */
  readonly notCommandedOnce: readonly string[];
  /** POSTs for what was so already. */
  readonly repeatedPosts: readonly string[];
  /** Messages that came twice although they were known to be sent, in other words, or never. */
  readonly badMessages: readonly string[];
  /** Alerts that were announced twice. */
  readonly disorder: readonly string[];
}

export class Books {
  /** Further tries of actions: the one before was not seen to get through. */
  tries = 0;
  /** POSTs that a process sent when it was thawed: nothing can keep it from that. */
  latePosts = 0;
  readonly #crew: Crew;
  readonly #messages = new MessageBook();
  /** By the mailbox whose confirmed action is told: the ids of the messages that told it. */
  readonly #told = new Map<string, Set<string>>();
  readonly #inFlight = new Set<string>();

  constructor(crew: Crew) {
    this.#crew = crew;
  }

  get messages(): number {
    return this.#messages.messages;
  }

  /** Messages that were accepted twice. */
  get repeats(): number {
    return this.#messages.doubled().length;
  }

  /** Of these rounds, once they are settled; of messages since the beginning. */
  async check(rounds: readonly Round[]): Promise<Findings> {
    const breaches = rounds.flatMap((round) => round.breaches);
    const commands = rounds.flatMap((round) => round.commands);
    for (const id of rounds.flatMap(({ inFlight }) => inFlight)) this.#inFlight.add(id);
    this.#takeMessages();
    const rows = await this.#actions([...breaches, ...commands]);
    const of = ({ mailbox }: Touched) => rows.filter(({ email }) => email === mailbox.email);
    const isOnce = (found: readonly ActionRow[]) => found.length === 1 && found[0]?.state === 'confirmed';
    const emails = (touched: readonly Touched[]) => touched.map(({ mailbox }) => mailbox.email);
    this.tries += breaches.flatMap(of).reduce((sum, { attempts }) => sum + attempts - 1, 0);
    const repeatedPosts = this.#repeatedPosts(rounds);
    // A process that froze just before it sent may send when it wakes: after the next active process did.
    const mayBeLate = rounds.some(({ faults }) => faults.includes('freeze'));
    if (mayBeLate) this.latePosts += repeatedPosts.length;
    const known = this.#messages;
    return {
      notActedOnce: breaches
        .filter((one) => !isOnce(of(one)))
        .map((one) => [one.mailbox.email, ...of(one).map(({ text }) => text)].join('; ')),
      notToldOnce: emails(breaches.filter(({ mailbox }) => this.#told.get(mailbox.email)?.size !== 1)),
      notCommandedOnce: emails(
        commands.filter(
          (one) => (one.isDone && of(one).length === 0) || of(one).length > 1 || of(one)[0]?.attempts === 2,
        ),
      ),
      repeatedPosts: mayBeLate ? [] : repeatedPosts,
      badMessages: [
        ...known
          .doubled()
          .filter((id) => !this.#inFlight.has(id) && !isOfTheStore(known.about(id)))
          .map((id) => `${known.about(id)}: came twice`),
        ...known.reworded().map((id) => `${known.about(id)}: came in other words`),
        ...known.lost().map((id) => `${known.about(id)}: was never accepted`),
      ],
      // A process that can't reach the database tells so itself, and knows of no other.
      disorder: known.disorder.filter((one) => !isOfTheStore(one)),
    };
  }

  #actions(touched: readonly Touched[]): Promise<readonly ActionRow[]> {
    return this.#crew.query(
      `SELECT action::json ->> 'email' AS email, state, (action::json ->> 'attempts')::int AS attempts,
        concat_ws(' ', action::json ->> 'email', action::json ->> 'kind', state, 'attempts', action::json ->> 'attempts',
          'planned', action::json ->> 'plannedAt', 'opened', action::json ->> 'openedAt', action::json ->> 'detail') AS text
        FROM warmwarden.actions WHERE NOT ${neverSent} AND mailbox_id IN (${listed(touched.map(({ mailbox }) => mailbox))})`,
    );
  }

  #takeMessages(): void {
    const { receiver } = this.#crew;
    for (const message of receiver.notified.filter(({ status }) => status === 200)) {
      for (const { rule, mailbox, numbers } of receiver.verified(message)) {
        if (rule !== 'guard_acted' || mailbox === null || numbers['outcome'] !== 'confirmed') continue;
        const ids = this.#told.get(mailbox) ?? new Set<string>();
        this.#told.set(mailbox, ids.add(message.headers['webhook-id'] ?? 'without an id'));
      }
    }
    this.#messages.take(receiver.notified);
  }

  #repeatedPosts(rounds: readonly Round[]): readonly string[] {
    const known = rounds.flatMap(({ breaches, commands }) => [
      ...breaches.map(({ mailbox: { id } }) => ({ id, config: { mode: 'balanced' }, running: true })),
      ...commands.map(({ mailbox: { id }, verb }) => ({ id, config: { mode: 'balanced' }, running: verb === 'pause' })),
    ]);
    const ids = new Set(known.map(({ id }) => id));
    const posts = [...this.#crew.accounts.values()].flatMap((api) => api.posts());
    const ours = posts.filter(({ mailboxId }) => mailboxId !== null && ids.has(mailboxId));
    const book = new ChangeBook(known, 0);
    book.take(
      ours.map(({ at, method, path, status, body }) => ({ at, method, path, status, body: { ...(body ?? {}) } })),
      'not_made',
    );
    return book.repeated;
  }
}

/** It is told from memory, so no row says whether it was in flight when its process was stopped. */
function isOfTheStore(said: string): boolean {
  return said.includes('store_failing');
}

/** Dropped by the process that followed one that ended before its first POST was sent, or while it was held back: it plans again. */
const neverSent = "(state = 'dropped' AND (action::json ->> 'attempts')::int = 0)";

function listed(mailboxes: readonly OtherMailbox[]): string {
  return mailboxes.map(({ id }) => `'${id}'`).join();
}

/** A query for what is under way still, as one text; null: nothing. These breaches are to be acted upon. */
export function underWay(breaches: readonly Touched[]): string {
  const parts = [
    `SELECT 'breach ' || id FROM unnest(ARRAY[${listed(breaches.map(({ mailbox }) => mailbox))}]) AS breach(id)
      WHERE NOT EXISTS (SELECT FROM warmwarden.actions a WHERE a.mailbox_id = breach.id AND a.state = 'confirmed')`,
    "SELECT state || ' action ' || action FROM warmwarden.actions WHERE state IN ('open', 'planned')",
    "SELECT 'transition ' || transition FROM warmwarden.transitions WHERE notified = 0",
    "SELECT 'delivery ' || title FROM warmwarden.deliveries WHERE state = 'pending'",
  ];
  return `SELECT string_agg(what, E'\\n') AS text FROM (${parts.join(' UNION ALL ')}) AS open(what)`;
}
