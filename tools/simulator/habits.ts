// Habits of real services that the API's document does not describe: the simulator shows what Warmwarden does about them.
import type { Clock } from '../../src/world/world.ts';
import { dayMs } from './day-row.ts';
import type { Fleet } from './fleet.ts';
import { matchesAddress } from './pattern.ts';
import { Refusal } from './refusal.ts';
import type { Answer, Handler, Methods, Router } from './routes.ts';
import type { MailboxSpec } from './scenario.ts';

/** The mailboxes that some habits are about. */
export interface Habits {
  /** A glob on addresses: these warm-ups read paused at night. */
  readonly pausedAtNight: string;
  /** The address of the mailbox that another workspace owns. */
  readonly shared: string;
}

const minuteMs = 60_000;
/** Begin and end of the night within the UTC day: 18:30 and 06:30. */
const night = { fromMs: (18 * 60 + 30) * minuteMs, untilMs: (6 * 60 + 30) * minuteMs };
const mostDays = 14;
const ownLimit = { 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' };

/** Habits of a fleet: the domain of its first mailbox is paused at night, its last mailbox is shared. */
export function habitsOf(fleet: readonly MailboxSpec[]): Habits {
  const [first] = fleet;
  const domain = first?.email.slice(first.email.lastIndexOf('@')) ?? '';
  return { pausedAtNight: `*${domain}`, shared: fleet.at(-1)?.email ?? '' };
}

/** Descriptions of the habits for people, a line each. */
export function habitTexts({ pausedAtNight, shared }: Habits): readonly string[] {
  return [
    `the warm-ups of ${pausedAtNight} read paused from 18:30 to 06:30 UTC`,
    `${shared} is shared from another workspace: changes are refused with 403`,
    'two keys see the same mailboxes',
    '/v1/dns says X-RateLimit-Limit: 3 and X-RateLimit-Remaining: 0',
    `days above ${mostDays} are refused with 400`,
    'days without mail are left out of the statistics, and weekdays_only is not said',
  ];
}

/** The routes of a service that has the habits. */
export function withHabits(
  router: Router,
  { fleet, clock }: { readonly fleet: Fleet; readonly clock: Clock },
  habits: Habits,
): Router {
  const emailOf = (id: unknown) => (typeof id === 'string' ? (fleet.withId(id)?.email ?? '') : '');
  const isPaused = (id: unknown) => isNight(clock.now()) && matchesAddress(habits.pausedAtNight, emailOf(id));
  const changed: Readonly<Record<string, (methods: Methods) => Methods>> = {
    '/v1/warmup': ({ GET, POST }) => ({
      ...(GET && {
        GET: after(GET, (body) => ({
          ...body,
          ...(isPaused(body['mailbox_id']) && { status: 'paused' }),
          // The rows alone show that a weekend has no emails.
          config: { ...(body['config'] as object), weekdays_only: undefined },
        })),
      }),
      ...(POST && {
        POST: (question) => {
          if (emailOf(question.body['mailbox_id']) !== habits.shared) return POST(question);
          throw new Refusal(403, 'this mailbox is shared from another workspace: only its owner may change it');
        },
      }),
    }),
    '/v1/stats': ({ GET }) => ({
      ...(GET && {
        GET: (question) => {
          if (Number(question.query.get('days')) > mostDays)
            throw new Refusal(400, `days must be at most ${mostDays} on your plan`);
          return after(GET, (body) => ({ ...body, stats: withMail(body['stats']) }))(question);
        },
      }),
    }),
    '/v1/dns': ({ GET }) => ({ ...(GET && { GET: (question) => ({ ...GET(question), headers: ownLimit }) }) }),
  };
  return (path) => {
    const found = router(path);
    const change = Object.hasOwn(changed, path) ? changed[path] : undefined;
    return found && change ? { ...found, methods: change(found.methods) } : found;
  };
}

function after(handler: Handler, change: (body: Record<string, unknown>) => object): Handler {
  return (question): Answer => {
    const answer = handler(question);
    return { ...answer, body: change(answer.body as Record<string, unknown>) };
  };
}

function isNight(now: number): boolean {
  const ofDay = now % dayMs;
  return ofDay >= night.fromMs || ofDay < night.untilMs;
}

function withMail(rows: unknown): readonly unknown[] {
  const list = rows as readonly { readonly sent: number; readonly bounced: number }[];
  return list.filter(({ sent, bounced }) => sent + bounced > 0);
}
