// Operator commands on the page. A GET with `do` shows the effect of a command; only the POST of that form runs it.
import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { failure } from '../../core/operator-command.ts';
import { systemClock } from '../../world/world.ts';
import { byOf, framed, visitorOf } from '../access/access.ts';
import { formTokenFor, ownFormOf } from '../access/sessions.ts';
import {
  type CommandEffect,
  type CommandRun,
  commandPage,
  commandRunPage,
  maxReasonLength,
} from '../page/command-page.ts';
import { noQuery, operatorsOnly, queryOf, refuse, starting } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { commandPaths, preparedAt } from './prepared.ts';

const againSeconds = 2;
const nothing = '-';
/** Largest number of runs in memory: the audit log has all of them. */
const maxRuns = 200;
/** Concurrent requests of a run: all requests of an account share one budget. */
const atATime = 3;
/** Time that a browser waits for the outcome before it gets a page that reloads. */
const shownAfterMs = 5_000;

type CommandParts = Pick<RouteParts, 'fleet' | 'world' | 'operate' | 'publicUrl'>;

export function addCommands(app: Hono, parts: CommandParts): void {
  const runs = new Map<string, CommandRun>();
  for (const path of commandPaths) {
    app.get(path, async (c, next) => {
      const asked = queryOf(c);
      if (!asked.has('do')) return next();
      return show(c, parts, { path, asked, reason: asked.get('reason') ?? '', problem: null });
    });
    app.post(path, noQuery, async (c) => {
      const sent = await ownFormOf(c, parts.publicUrl);
      return 'refused' in sent ? sent.refused : carryOut(c, parts, { path, form: sent.form, runs });
    });
  }
  app.get('/commands/:id', noQuery, (c) => {
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    const run = runs.get(c.req.param('id'));
    if (!run) return refuse(c, 'not_found', 'Warmwarden no longer has this outcome. The audit log has it.');
    if (run.outcomes.length < run.total) c.header('Refresh', String(againSeconds));
    return c.html(framed(c, run.text.title, commandRunPage(run, parts.world.clock.now())));
  });
}

function opened(c: Context, { fleet, operate }: CommandParts, path: string, asked: URLSearchParams) {
  if (!visitorOf(c).mayOperate) return { refused: refuse(c, 'not_allowed', operatorsOnly) };
  const mailbox = (account: string, id: string) => fleet.mailbox(account, id);
  const prepared = preparedAt({ path, asked, mailbox });
  if (prepared === null) return { refused: refuse(c, 'not_found', 'There is no command with this name here.') };
  if ('unknown' in prepared) return { refused: refuse(c, 'bad_request', prepared.unknown) };
  const open = operate();
  if (!open) return { refused: refuse(c, 'starting', starting) };
  const by = byOf(c);
  const run = (body: object) => open(prepared.operation, { ...body, by }).catch(failure);
  return { prepared, run, by };
}

interface Shown {
  readonly path: string;
  readonly asked: URLSearchParams;
  readonly reason: string;
  readonly problem: string | null;
}

async function show(c: Context, parts: CommandParts, { path, asked, reason, problem }: Shown) {
  const open = opened(c, parts, path, asked);
  if ('refused' in open) return open.refused;
  const { prepared, run } = open;
  const effects: CommandEffect[] = [];
  if (prepared.wrong === null) {
    for (const { name, body } of prepared.requests)
      effects.push({ name, outcome: await run({ ...body, dry_run: true }) });
  }
  const plans = effects.map(({ outcome }) => outcome.plan ?? nothing);
  const page = commandPage({
    ...prepared,
    path,
    effects,
    plan: plans.some((plan) => plan !== nothing) ? plans.join(' ') : null,
    formToken: formTokenFor(c),
    reason: reason.slice(0, maxReasonLength),
    problem: problem ?? (prepared.wrong || null),
  });
  return c.html(framed(c, prepared.text.title, page), problem === null ? 200 : 422);
}

interface SentForm {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly runs: Map<string, CommandRun>;
}

/** Runs the requests in the form's plan. Each one is refused if its plan has changed since. */
async function carryOut(c: Context, parts: CommandParts, { path, form, runs }: SentForm) {
  const open = opened(c, parts, path, form);
  if ('refused' in open) return open.refused;
  const { prepared, run, by } = open;
  const { text, requests, wrong } = prepared;
  const reason = (form.get('reason') ?? '').trim();
  const again = (problem: string) => show(c, parts, { path, asked: form, reason, problem });
  if (reason === '') return again('Write a reason.');
  const plans = (form.get('plan') ?? '').split(' ');
  if (wrong !== null || plans.length !== requests.length) return again('Nothing was done: look at the effect again.');
  const agreed = requests
    .map((request, index) => ({ ...request, plan: plans[index] ?? nothing }))
    .filter(({ plan }) => plan !== nothing);
  const outcomes: CommandEffect[] = [];
  const id = randomUUID();
  runs.set(id, { text, by, reason, at: parts.world.clock.now(), total: agreed.length, outcomes });
  const [oldest] = runs.keys();
  if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest);
  const left = agreed.values();
  const workThrough = async () => {
    for (const { name, body, plan } of left) outcomes.push({ name, outcome: await run({ ...body, reason, plan }) });
  };
  const over = Promise.all(Array.from({ length: atATime }, workThrough));
  // The wait is in real time, even if the daemon's clock is simulated.
  const waiting = new AbortController();
  await Promise.race([over, systemClock().sleep(shownAfterMs, waiting.signal)]);
  waiting.abort();
  return c.redirect(`/commands/${id}`, 303);
}
