// `warmwarden decide`: the guard's verdict on a stats answer, or on a file of cases, without a daemon.

import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { readStats } from '../api/answers.ts';
import { guardSchema } from '../config/guard-schema.ts';
import { policyOf } from '../config/mailbox-rules.ts';
import { admit, closedBreaker, heldByBreaker } from '../core/guard/breaker.ts';
import { judge, type Situation, situationOf } from '../core/guard/judge.ts';
import { firstSight } from '../core/guard/memory.ts';
import { errorText } from '../core/nearest.ts';
import { type Policy, percent, ratePpm, warmupModes } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import type { EvidenceStart, RunState, Verdict } from '../core/verdict.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { failureOf } from '../world/schema/small-file.ts';
import { systemClock } from '../world/world.ts';
import { guardOf } from './configuration.ts';
import { CommandError } from './errors.ts';
import { jsonOption, printJson } from './options.ts';

interface DecideOptions {
  readonly mode?: string;
  readonly stats?: string;
  readonly config?: string;
  readonly cases?: string;
}

export function decideCommand(): Command {
  return new Command('decide')
    .description("print the guard's verdict on a stats answer (GET /v1/stats), as JSON")
    .addOption(new Option('--mode <mode>', 'the warm-up mode of the mailbox').choices([...warmupModes]))
    .option('--stats <file>', 'the stats answer; without it, standard input')
    .option('--config <file>', 'take the guard settings of this file; without it, the defaults')
    .option('--cases <file>', 'judge an array of cases instead, in the format that docs/cli-json.md describes')
    .addOption(jsonOption())
    .action((options: DecideOptions) => {
      printJson('decide', options.cases === undefined ? verdictOf(options) : verdictsOf(options.cases));
    });
}

/** Reads JSON; throws a CommandError. */
function readJson(file: string | undefined): unknown {
  const name = file ?? 'standard input';
  const text = textOf(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrong(`${name} is not JSON: ${errorText(error)}`);
  }
}

function textOf(file: string | undefined): string {
  try {
    return readFileSync(file ?? 0, 'utf8');
  } catch (error) {
    throw wrong(`${file ?? 'standard input'} cannot be read: ${failureOf(error)}.`);
  }
}

/** Error for bad input: one sentence, regardless of the depth at which the problem was found. */
function wrong(sentence: string): CommandError {
  return new CommandError('usage', sentence);
}

function verdictsOf(file: string) {
  const body = readJson(file);
  const cases = typeof body === 'object' && body !== null && 'vectors' in body ? body.vectors : body;
  if (!Array.isArray(cases)) throw wrong(`${file} holds no array of cases`);
  return decideCases(cases);
}

function verdictOf({ mode, stats, config }: DecideOptions) {
  if (mode === undefined) throw wrong(`--mode is needed: one of ${warmupModes.join(', ')}`);
  const policy = policyOf(config === undefined ? {} : guardOf(config));
  const answer = readStats(readJson(stats));
  if (!answer) throw wrong('the stats answer is not a JSON object');
  const now = systemClock().now();
  const look = { mode, run: 'running', weekdaysOnly: false, rows: answer.rows, now, statsAt: now } as const;
  const unknown = firstSight(policy, look);
  const known = { ...unknown, evidence: null, foundBreachAt: null };
  return {
    ...printed(judge(policy, situationOf(policy, known, look, false))),
    first_sight: printed(judge(policy, situationOf(policy, unknown, look, true))),
  };
}

function printed(verdict: Verdict) {
  const { windowFrom: window_from, windowTo: window_to } = verdict;
  return { ...factsOf(verdict), window_from, window_to, explanation: explainVerdict(verdict) };
}

/** Rates have at most four decimals. */
function factsOf(verdict: Verdict) {
  const { action, reason, sent, bounced, limitPpm } = verdict;
  const rate = ratePpm(verdict);
  const rate_percent = rate === null ? null : Math.round(percent(rate) * 10_000) / 10_000;
  return { action, reason, sent, bounced, rate_percent, limit_percent: limitPpm === null ? null : percent(limitPpm) };
}

// Cases: vectors in the format of guard/vectors.json become situations, verdicts become rows.

const number = z.number();
const caseConfig = z
  .object({
    window_days: number,
    window_max_days: number,
    min_bounces: number,
    on_breach: z.enum(['recovery', 'pause', 'alert']),
    on_recovery_breach: z.enum(['pause', 'alert']),
    burst: z.enum(['alert', 'act']),
    emergency_min_bounces: number,
    emergency_rate_pct: number,
    emergency_days: number,
    max_interventions: number,
    stale_after_days: number,
    breaker_pct: number,
    breaker_min_mailboxes: number,
    breaker_min_domains: number,
    limits_pct: z.partialRecord(z.enum(warmupModes), number),
  })
  .partial();

/** Guard settings of a case in the form of the configuration file, which checks them. */
function guardOfCase(config: z.infer<typeof caseConfig>): Record<string, unknown> {
  const { window_days, window_max_days, min_bounces, on_breach, on_recovery_breach, burst, stale_after_days } = config;
  const share = (percentage: number | undefined) => (percentage === undefined ? undefined : `${percentage}%`);
  const limits = Object.entries(config.limits_pct ?? {}).map(([mode, limit]) => [mode, share(limit)]);
  return {
    ...{ window_days, window_max_days, min_bounces, on_breach, on_recovery_breach, burst, stale_after_days },
    emergency: {
      min_bounces: config.emergency_min_bounces,
      rate: share(config.emergency_rate_pct),
      days: config.emergency_days,
    },
    max_interventions: { count: config.max_interventions },
    breaker: {
      share: share(config.breaker_pct),
      min_mailboxes: config.breaker_min_mailboxes,
      min_domains: config.breaker_min_domains,
    },
    limits: Object.fromEntries(limits),
  };
}

/** Case in the form of the file. */
export const caseSchema = z.object({
  id: z.string(),
  mode: z.string().nullable().describe('The warm-up mode.'),
  now: z.iso.datetime(),
  stats: z.unknown().describe('The days of the stats answer.'),
  config: caseConfig.default({}).transform(guardOfCase).pipe(guardSchema),
  state: z
    .object({
      paused: z.boolean(),
      not_running: z.boolean(),
      evidence_from: z.iso.date().nullable(),
      emergency_from: z.iso.date().nullable(),
      recent_interventions: number,
      first_sight: z.boolean().describe('Warmwarden has not seen the mailbox before. Default: false.'),
    })
    .partial()
    .default({}),
  fleet: z
    .object({
      active: number.describe('Running mailboxes.'),
      pending: number.describe('Mailboxes acted on or held within the window of the breaker, this one included.'),
      distinct_domains: number,
    })
    .nullish(),
  weekdays_only: z.boolean().optional(),
});

type Case = z.infer<typeof caseSchema>;

/** Rows of the cases, in the order of the file. Throws a CommandError that names the case and the field. */
export function decideCases(cases: readonly unknown[]) {
  return cases.map((raw, index) => {
    const parsed = caseSchema.safeParse(raw);
    if (!parsed.success) {
      const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
      throw wrong(`case ${index}: ${issues.join('; ')}`);
    }
    return decideCase(parsed.data);
  });
}

function decideCase(one: Case) {
  const now = Date.parse(one.now);
  const policy = policyOf(one.config);
  const found = judge(policy, situationOfCase(one, policy, now));
  const verdict = one.fleet ? underPressure(found, policy, one.fleet) : found;
  return { id: one.id, ...factsOf(verdict), window_days: verdict.windowDays };
}

/** Situation with the case's memory; at first sight that is only an earlier intervention. */
function situationOfCase(one: Case, policy: Policy, now: EpochMs): Situation {
  const rows = readStats({ stats: one.stats })?.rows ?? null;
  const run: RunState = one.state.paused ? 'paused' : one.state.not_running ? 'not_running' : 'running';
  const sight = { mode: one.mode, run, rows, now };
  const look = { ...sight, statsAt: now, weekdaysOnly: one.weekdays_only ?? false };
  const isFirst = one.state.first_sight ?? false;
  const state = { recentInterventions: one.state.recent_interventions ?? 0 };
  const evidence = startOf(one.state.evidence_from);
  const emergencyEvidence = startOf(one.state.emergency_from);
  const situation = { ...situationOf(policy, firstSight(policy, sight), look, isFirst), ...state };
  return isFirst ? situation : { ...situation, evidence, emergencyEvidence, foundBreachAt: null };
}

function startOf(from: string | null | undefined): EvidenceStart | null {
  return from ? { from, before: null } : null;
}

/** Part of the fleet that acts at the same time as a mailbox. */
export type FleetPressure = NonNullable<Case['fleet']>;

/** Applies the circuit breaker to a verdict on one mailbox of a fleet that is known only by its counts. */
export function underPressure(verdict: Verdict, { breaker }: Policy, pressure: FleetPressure): Verdict {
  if (verdict.action !== 'recovery' && verdict.action !== 'pause') return verdict;
  const { active, pending, distinct_domains: domains } = pressure;
  const entries = Array.from({ length: pending }, (_, index) => ({
    key: `case/${index}`,
    account: 'case',
    email: `${index}@${index % domains}.example`,
    domain: `${index % domains}.example`,
    at: 0,
    held: false,
    firstSight: false,
    weight: 0,
  }));
  const [candidate, ...others] = entries;
  if (!candidate) return verdict;
  const state = { ...closedBreaker, entries: others };
  const given = { policy: breaker, running: () => active, now: 0 };
  return admit(state, { ...candidate, statsAt: 0 }, given).admitted ? verdict : heldByBreaker(verdict);
}
