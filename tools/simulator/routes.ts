// The nine routes: from a question to an answer. Who may ask was settled before.
import type { Clock } from '../../src/world/world.ts';
import * as answers from './answers.ts';
import type { Measurements } from './checks.ts';
import type { Fleet } from './fleet.ts';
import { type JsonObject, readConfigChange, readDays, readNewMailbox, readRefresh, readText } from './inputs.ts';
import type { Caller } from './keys.ts';
import type { Mailbox } from './mailbox.ts';
import { Refusal } from './refusal.ts';

/** A question of an admitted caller. */
interface Question {
  readonly caller: Caller;
  readonly query: URLSearchParams;
  /** The path's last segment where the route has an id, else ''. */
  readonly id: string;
  /** The JSON body of a POST, else {}. */
  readonly body: JsonObject;
}

export interface Answer {
  readonly status: number;
  /** JSON; a text is sent as it is. */
  readonly body: unknown;
  /** Headers that are added to the usual ones or replace them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a question, or throws a Refusal. */
export type Handler = (question: Question) => Answer;

/** The methods of one path. */
export type Methods = Readonly<Partial<Record<'GET' | 'POST', Handler>>>;

const version = '1.0.0';

/** GET /v1/health. `now` is in epoch milliseconds. */
export function health(now: number): Answer {
  return ok({ status: 'ok', version, timestamp: new Date(now).toISOString() });
}

/** Finds the methods of a path and the id in it; undefined for a path that is not there. */
export type Router = (path: string) => { readonly methods: Methods; readonly id: string } | undefined;

/** What the service measured, by kind. */
export interface Measured {
  readonly dns: Measurements;
  readonly blacklist: Measurements;
}

export function createRouter(fleet: Fleet, clock: Clock, measured: Measured): Router {
  const checks = checkRoutes(fleet, clock, measured);
  const detail = mailboxDetail(fleet, clock, measured.dns);
  const routes: Readonly<Record<string, Methods>> = {
    '/v1/mailboxes': mailboxRoutes(fleet, clock),
    '/v1/warmup': warmupRoutes(fleet),
    '/v1/stats': { GET: statsRoute(fleet) },
    '/v1/dns': { GET: checks.dns },
    '/v1/blacklist': { GET: checks.blacklist },
  };
  return (path) => {
    const [, id] = /^\/v1\/mailboxes\/([^/]+)$/.exec(path) ?? [];
    if (id !== undefined) return { methods: { GET: detail }, id };
    const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
    return methods && { methods, id: '' };
  };
}

function mailboxRoutes(fleet: Fleet, clock: Clock): Methods {
  return {
    GET: ({ caller }) => {
      const now = clock.now();
      const own = fleet.mailboxes().filter((mailbox) => caller.owns(mailbox));
      return ok({ mailboxes: own.map((mailbox) => answers.listEntry(mailbox, now)) });
    },
    POST: ({ caller, body }) => {
      const { email, provider } = readNewMailbox(body);
      if (fleet.find(email)) throw new Refusal(400, 'a mailbox with this email already exists');
      const spec = { email, provider, mode: 'balanced', startedDaysAgo: 0 } as const;
      const mailbox = fleet.add(spec, caller.hash);
      const message = 'The mailbox was connected and its warm-up has started.';
      return { status: 201, body: { id: mailbox.id, email, status: 'active', message } };
    },
  };
}

function mailboxDetail(fleet: Fleet, clock: Clock, measurements: Measurements): Handler {
  return ({ caller, id }) => {
    const mailbox = ownMailbox(fleet, caller, id);
    const now = clock.now();
    return ok(answers.detail(mailbox, now, measurements.latest(mailbox, now)));
  };
}

function warmupRoutes(fleet: Fleet): Methods {
  return {
    GET: ({ caller, query }) => ok(answers.warmupStatus(mailboxOfQuery(fleet, caller, query))),
    POST: ({ caller, body }) => {
      const mailbox = ownMailbox(fleet, caller, readText(body, 'mailbox_id'));
      const action = readText(body, 'action');
      return ok(answers.actionDone(mailbox, act(mailbox, action, body['config'])));
    },
  };
}

/** Does what an action asks for; answers the message. */
function act(mailbox: Mailbox, action: string, config: unknown): string {
  switch (action) {
    case 'pause':
      return mailbox.pause() ? 'The warm-up was paused.' : 'The warm-up was already paused.';
    case 'resume':
      return mailbox.resume() ? 'The warm-up was resumed.' : 'The warm-up was already running.';
    case 'update_config':
      mailbox.configure(readConfigChange(config, mailbox.config));
      return 'The warm-up configuration was updated.';
    default:
      throw new Refusal(400, 'action must be pause, resume or update_config');
  }
}

function statsRoute(fleet: Fleet): Handler {
  return ({ caller, query }) => {
    const mailbox = mailboxOfQuery(fleet, caller, query);
    return ok(answers.statistics(mailbox, readDays(query.get('days'))));
  };
}

function checkRoutes(fleet: Fleet, clock: Clock, measured: Measured) {
  const measuredAt = (measurements: Measurements, mailbox: Mailbox, refresh: boolean) => {
    const now = clock.now();
    return refresh ? measurements.refresh(mailbox, now) : measurements.latest(mailbox, now);
  };
  const dns: Handler = ({ caller, query }) => {
    const mailbox = mailboxOfQuery(fleet, caller, query);
    const refresh = readRefresh(query.get('refresh'));
    return ok(answers.dnsCheck(mailbox, measuredAt(measured.dns, mailbox, refresh), refresh ? 'live' : 'cached'));
  };
  const blacklist: Handler = ({ caller, query }) => {
    const mailbox = mailboxOfQuery(fleet, caller, query);
    const refresh = readRefresh(query.get('refresh'));
    return ok(answers.blacklistCheck(mailbox, measuredAt(measured.blacklist, mailbox, refresh)));
  };
  return { dns, blacklist };
}

function mailboxOfQuery(fleet: Fleet, caller: Caller, query: URLSearchParams): Mailbox {
  const id = query.get('mailbox_id');
  if (!id) throw new Refusal(400, 'mailbox_id is required');
  return ownMailbox(fleet, caller, id);
}

/** One sentence for "is not there" and "is not yours": a stranger must not learn which it is. */
function ownMailbox(fleet: Fleet, caller: Caller, id: string): Mailbox {
  const mailbox = fleet.withId(id);
  if (!mailbox || !caller.owns(mailbox)) throw new Refusal(404, 'mailbox not found');
  return mailbox;
}

function ok(body: object): Answer {
  return { status: 200, body };
}
