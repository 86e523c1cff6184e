// `warmwarden decide`: the guard's verdict for a stats answer, or for a file of cases, without any daemon.
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { loadConfig } from '../config/load.ts';
import { policyOf } from '../config/mailbox-rules.ts';
import { formatProblem } from '../config/problem.ts';
import { judge } from '../guard/verdict.ts';
import { readStats } from '../mailbox-api/answers.ts';
import { type Policy, warmupModes } from '../model/policy.ts';
import { percent, ratePpm } from '../model/rate.ts';
import { explainVerdict } from '../wording/explain.ts';
import { systemClock } from '../world.ts';
import { decideCases } from './decide-cases.ts';
import { exitUsage } from './exit-codes.ts';

interface DecideOptions {
  readonly mode?: string;
  readonly stats?: string;
  readonly config?: string;
  readonly cases?: string;
}

export function decideCommand(): Command {
  return new Command('decide')
    .description("the guard's verdict for a stats answer (GET /v1/stats, as a file or on stdin), as JSON")
    .addOption(new Option('--mode <mode>', 'the warm-up mode of the mailbox').choices([...warmupModes]))
    .option('--stats <file>', 'the stats answer; without it, standard input')
    .option('--config <file>', 'take the guard settings of its first account')
    .option('--cases <file>', 'judge an array of cases instead, in the format of guard/vectors.json')
    .action((options: DecideOptions) => {
      const problem = problemOf(() => (options.cases ? printCases(options.cases) : printVerdict(options)));
      if (problem === null) return;
      process.stderr.write(`warmwarden decide: ${problem}\n`);
      process.exitCode = exitUsage;
    });
}

/** Bad input is a sentence, however deep it was found. */
function problemOf(work: () => string | null): string | null {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Reads JSON; throws an Error with one sentence. */
function readJson(file: string | undefined): unknown {
  const name = file ?? 'standard input';
  try {
    return JSON.parse(readFileSync(file ?? 0, 'utf8'));
  } catch (error) {
    throw new Error(`${name} is no readable JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** The problem, when there is one. */
function printCases(file: string): string | null {
  const body = readJson(file);
  const cases = typeof body === 'object' && body !== null && 'vectors' in body ? body.vectors : body;
  if (!Array.isArray(cases)) return `${file} holds no array of cases`;
  printJson(decideCases(cases));
  return null;
}

function printVerdict({ mode, stats, config }: DecideOptions): string | null {
  if (mode === undefined) return `--mode is needed: one of ${warmupModes.join(', ')}`;
  const policy = config === undefined ? policyOf({}) : policyFrom(config);
  if (typeof policy === 'string') return policy;
  const answer = readStats(readJson(stats));
  if (!answer) return 'the stats answer is no JSON object';
  const now = systemClock().now();
  const verdict = judge(policy, {
    mode,
    run: 'running',
    weekdaysOnly: false,
    rows: answer.rows,
    now,
    statsAt: now,
    evidence: null,
    emergencyEvidence: null,
    recentInterventions: 0,
    firstSight: false,
    claim: null,
    contested: false,
  });
  const rate = ratePpm(verdict);
  printJson({
    action: verdict.action,
    reason: verdict.reason,
    sent: verdict.sent,
    bounced: verdict.bounced,
    rate_percent: rate === null ? null : rounded(percent(rate)),
    limit_percent: verdict.limitPpm === null ? null : percent(verdict.limitPpm),
    window_from: verdict.windowFrom,
    window_to: verdict.windowTo,
    explanation: explainVerdict(verdict),
  });
  return null;
}

/** The guard settings of the file's first account, or the file's problems in one text. */
function policyFrom(file: string): Policy | string {
  const loaded = loadConfig(file, process.env);
  if (!loaded.ok) return loaded.problems.map((problem) => formatProblem(file, problem)).join('\n');
  return policyOf(loaded.config.accounts[0]?.guard ?? {});
}

/** Four decimals: what a ledger needs. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
