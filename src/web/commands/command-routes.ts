// Operator commands on the page. A GET with `do` shows the effect of a command; only the POST of that form runs it.
import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { CommandOutcome, Operate } from '../../core/operator-command.ts';
import { failure } from '../../operations/plan.ts';
import { systemClock } from '../../world/world.ts';
import { byOf, visitorOf } from '../access/access.ts';
import { formTokenFor, ownFormOf } from '../access/forms.ts';
import {
  type CommandEffect,
  type CommandRun,
  commandPage,
  commandRunPage,
  maxReasonLength,
} from '../page/command-page.ts';
import { layout } from '../page/layout.ts';
import type { Markup } from '../page/parts/elements.ts';
import { noQuery, operatorsOnly, queryOf, refuse } from '../refusals.ts';
import { pathBehind } from '../rim.ts';
import type { RouteParts } from '../route-parts.ts';
import { commandPatterns, type Prepared, preparedAt } from './prepared.ts';

/** Seconds after which the page of an unfinished run reloads. */
const againSeconds = 2;
/** Placeholder in the plan for a request without an effect. */
const nothing = '-';

type CommandParts = Pick<RouteParts, 'fleet' | 'world' | 'operate' | 'publicUrl' | 'pathPrefix'>;

export function addCommands(app: Hono, parts: CommandParts): void {
  const runs = new CommandRuns();
  for (const pattern of commandPatterns) {
    app.get(pattern, async (c, next) => {
      const asked = queryOf(c);
      if (!asked.has('do')) return next();
      return showing(c, parts, { pattern, asked, reason: asked.get('reason') ?? '', problem: null });
    });
    app.post(pattern, noQuery, async (c) => {
      const sent = await ownFormOf(c, parts.publicUrl);
      return 'refused' in sent ? sent.refused : carryOut(c, parts, { pattern, form: sent.form, runs });
    });
  }
  app.get('/commands/:id', noQuery, (c) => {
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    const run = runs.find(c.req.param('id'));
    if (!run) return refuse(c, 'not_found', 'Warmwarden no longer has this outcome. The audit log has it.');
    if (run.outcomes.length < run.total) c.header('Refresh', String(againSeconds));
    return c.html(framed(c, run.text.title, commandRunPage(run, parts.world.clock.now())));
  });
}

interface Shown {
  readonly pattern: string;
  readonly asked: URLSearchParams;
  readonly reason: string;
  readonly problem: string | null;
}

type OpenCommand = { readonly prepared: Prepared; readonly operate: Operate };

/** Returns the command of a request, or its refusal. */
function opened(c: Context, { fleet, operate }: CommandParts, { pattern, asked }: Pick<Shown, 'pattern' | 'asked'>) {
  if (!visitorOf(c).mayOperate) return { refused: refuse(c, 'not_allowed', operatorsOnly) };
  const mailbox = (account: string, id: string) => fleet.mailbox(account, id);
  const prepared = preparedAt({ pattern, names: c.req.param() ?? {}, asked, mailbox });
  if (prepared === null) return { refused: refuse(c, 'not_found', 'There is no command with this name here.') };
  if ('unknown' in prepared) return { refused: refuse(c, 'bad_request', prepared.unknown) };
  const open = operate();
  if (!open) return { refused: refuse(c, 'starting', 'The daemon is starting. Try again in a moment.') };
  return { prepared, operate: open } satisfies OpenCommand;
}

async function showing(c: Context, parts: CommandParts, shown: Shown) {
  const open = opened(c, parts, shown);
  if ('refused' in open) return open.refused;
  const { prepared } = open;
  const effects = prepared.wrong === null ? await effectsOf(open, byOf(c)) : [];
  const names = effects.map(({ outcome }) => outcome.plan ?? nothing);
  const page = commandPage({
    text: prepared.text,
    path: pathBehind(parts.pathPrefix, new URL(c.req.url).pathname),
    fields: prepared.fields,
    given: prepared.given,
    effects,
    plan: names.some((name) => name !== nothing) ? names.join(' ') : null,
    formToken: formTokenFor(c),
    reason: shown.reason.slice(0, maxReasonLength),
    problem: shown.problem ?? (prepared.wrong || null),
  });
  return c.html(framed(c, prepared.text.title, page), shown.problem === null ? 200 : 422);
}

/** Dry run of each request. */
async function effectsOf({ prepared, operate }: OpenCommand, by: string): Promise<readonly CommandEffect[]> {
  const effects: CommandEffect[] = [];
  for (const { name, body } of prepared.requests) {
    const asked = { ...body, by, dry_run: true };
    effects.push({ name, outcome: await operate(prepared.operation, asked).catch(failure) });
  }
  return effects;
}

interface SentForm {
  readonly pattern: string;
  readonly form: URLSearchParams;
  readonly runs: CommandRuns;
}

/** Runs the requests in the form's plan. Each one is refused if its plan has changed since. */
async function carryOut(c: Context, parts: CommandParts, { pattern, form, runs }: SentForm) {
  const open = opened(c, parts, { pattern, asked: form });
  if ('refused' in open) return open.refused;
  const { prepared, operate } = open;
  const reason = (form.get('reason') ?? '').trim();
  if (reason === '') return showing(c, parts, { pattern, asked: form, reason, problem: 'Write a reason.' });
  const plans = (form.get('plan') ?? '').split(' ');
  if (prepared.wrong !== null || plans.length !== prepared.requests.length) {
    return showing(c, parts, { pattern, asked: form, reason, problem: 'Nothing was done: look at the effect again.' });
  }
  const by = byOf(c);
  const agreed = prepared.requests.flatMap((request, index) => {
    const plan = plans[index] ?? nothing;
    return plan === nothing ? [] : [{ ...request, plan }];
  });
  const requests = agreed.map(({ name, body, plan }) => ({
    name,
    carryOut: (): Promise<CommandOutcome> => operate(prepared.operation, { ...body, by, reason, plan }).catch(failure),
  }));
  const id = await runs.start({ text: prepared.text, by, reason, at: parts.world.clock.now() }, requests);
  return c.redirect(`/commands/${id}`, 303);
}

function framed(c: Context, title: string, body: Markup): Markup {
  return layout({ title: `${title} · Warmwarden`, body, live: null, visitor: visitorOf(c) });
}

// Commands that were started on the page. They run a few requests at a time, and are kept for a while to show their
// outcome.

/** Largest number of runs in memory: the audit log has all of them. */
const maxRuns = 200;
/** Concurrent requests of a run: all requests of an account share one budget. */
const atATime = 3;
/** Time that a browser waits for the outcome before it gets a page that reloads. */
const shownAfterMs = 5_000;

interface RunForm {
  readonly name: string;
  readonly carryOut: () => Promise<CommandOutcome>;
}

class CommandRuns {
  readonly #runs = new Map<string, CommandRun>();

  /** Starts a run. Resolves to its id when it ends, or after `shownAfterMs`. */
  async start(about: Omit<CommandRun, 'total' | 'outcomes'>, requests: readonly RunForm[]): Promise<string> {
    const id = randomUUID();
    const outcomes: CommandEffect[] = [];
    this.#runs.set(id, { ...about, total: requests.length, outcomes });
    for (const [oldest] of this.#runs) {
      if (this.#runs.size <= maxRuns) break;
      this.#runs.delete(oldest);
    }
    const left = requests.values();
    const workThrough = async () => {
      for (const { name, carryOut } of left) outcomes.push({ name, outcome: await carryOut() });
    };
    const over = Promise.all(Array.from({ length: atATime }, workThrough));
    // The wait is in real time, even if the daemon's clock is simulated.
    const waiting = new AbortController();
    await Promise.race([over, systemClock().sleep(shownAfterMs, waiting.signal)]);
    waiting.abort();
    return id;
  }

  find(id: string): CommandRun | undefined {
    return this.#runs.get(id);
  }
}
