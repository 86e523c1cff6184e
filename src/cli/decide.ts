// `warmwarden decide`: the guard's verdict on a stats answer, or on a file of cases, without a daemon.

import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { readStats } from '../api/answers.ts';
import { policyOf } from '../config/mailbox-rules.ts';
import { judge, situationOf } from '../core/guard/judge.ts';
import { firstSight } from '../core/guard/memory.ts';
import { errorText } from '../core/nearest.ts';
import { percent, ratePpm, warmupModes } from '../core/policy.ts';
import type { Verdict } from '../core/verdict.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { failureOf } from '../world/schema/small-file.ts';
import { systemClock } from '../world/world.ts';
import { guardOf } from './configured.ts';
import { decideCases } from './decide/cases.ts';
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
    .description("print the guard's verdict on a stats answer (GET /v1/stats) from a file or standard input, as JSON")
    .addOption(new Option('--mode <mode>', 'the warm-up mode of the mailbox').choices([...warmupModes]))
    .option('--stats <file>', 'the stats answer; without it, standard input')
    .option('--config <file>', 'take the guard settings of this file; without it, the defaults')
    .option('--cases <file>', 'judge an array of cases instead, in the format that docs/cli.md describes')
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
  try {
    return decideCases(cases);
  } catch (error) {
    throw wrong(errorText(error));
  }
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
  const rate = ratePpm(verdict);
  return {
    action: verdict.action,
    reason: verdict.reason,
    sent: verdict.sent,
    bounced: verdict.bounced,
    rate_percent: rate === null ? null : rounded(percent(rate)),
    limit_percent: verdict.limitPpm === null ? null : percent(verdict.limitPpm),
    window_from: verdict.windowFrom,
    window_to: verdict.windowTo,
    explanation: explainVerdict(verdict),
  };
}

/** Rounds to four decimals, as a ledger needs. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
