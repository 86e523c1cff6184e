// `warmwarden doctor`: examines everything that Warmwarden needs once, in one report without secrets.
import { existsSync, statSync } from 'node:fs';
import { Command } from 'commander';
import { KnownSecrets } from '../config/hiding.ts';
import { type LoadedConfig, loadConfig, type ValidConfig } from '../config/load.ts';
import { loadPlaces, type Places } from '../config/places.ts';
import { pathOf } from '../core/store-failure.ts';
import { sentence } from '../core/wording/explain.ts';
import { counted } from '../core/wording/phrases.ts';
import { readCatalogue, scheduleDoubts } from '../recipes/catalogue.ts';
import { version } from '../world/program.ts';
import { formatProblem } from '../world/schema/problem.ts';
import { systemClock } from '../world/world.ts';
import { configurationError } from './configuration.ts';
import { examineAccounts } from './doctor/accounts.ts';
import { type DoctorPart, doctorParts, type Examined, reporter } from './doctor/examined.ts';
import { examineChannels, examineDaemon, type SeenDaemon, seeDaemon } from './doctor/network.ts';
import { examineStore, type StoreLines, unknownProcess } from './doctor/store.ts';
import { errorKinds, exitDone } from './errors.ts';
import { type Answers, type ConfigOptions, configOption, jsonOption, printJson } from './options.ts';
import { printLines } from './terminal.ts';

type Report = Answers['doctor'];

/** Exit code 0 without problems; 2 for problems of the configuration, 3 for a store of a newer version, else 1. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check configuration, API, budget, store, channels, clock and permissions; pings the heartbeat, sends no message, changes nothing',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(doctor);
}

async function doctor({ config: file, json = false }: ConfigOptions): Promise<void> {
  const loaded = loadConfig(file, process.env);
  if (!loaded.ok && !existsSync(file)) throw configurationError(file, loaded.problems);
  const { checks, exitCode } = await examine(file, loaded);
  const report: Report = {
    at: new Date(systemClock().now()).toISOString(),
    file,
    problems: checks.filter(({ result }) => result === 'problem').length,
    warnings: checks.filter(({ result }) => result === 'warning').length,
    checks: checks.toSorted((a, b) => doctorParts.indexOf(a.part) - doctorParts.indexOf(b.part)),
  };
  process.exitCode = exitCode;
  if (json) printJson('doctor', report);
  else printLines(linesOf(report));
}

interface DoctorFindings {
  readonly checks: readonly Examined[];
  readonly exitCode: number;
}

async function examine(file: string, loaded: LoadedConfig): Promise<DoctorFindings> {
  const places = loadPlaces(file, process.env);
  const place = places.ok ? places.store : null;
  const daemon = place === null ? null : await seeDaemon(pathOf(place));
  const seen = daemon === null || 'absence' in daemon ? null : daemon;
  const store = places.ok ? await storeOf(places) : notKnown('store');
  const checks = [
    versions(),
    ...(await configuration(file, loaded)),
    ...(loaded.ok ? examineFiles(file, loaded) : notKnown('permissions').checks),
    ...(loaded.ok ? await outside(loaded, seen) : [...notKnown('api').checks, ...notKnown('channels').checks]),
    ...store.checks,
    ...(daemon === null ? notKnown('daemon').checks : examineDaemon(daemon, store.active)),
  ];
  const hasProblem = checks.some(({ result }) => result === 'problem');
  const otherwise = hasProblem ? errorKinds.failed.exitCode : exitDone;
  return {
    checks: hidden(checks, loaded),
    exitCode: loaded.ok ? Math.max(store.exitCode, otherwise) : errorKinds.configuration.exitCode,
  };
}

function versions(): Examined {
  const { node, sqlite } = process.versions;
  const machine = `${process.platform} ${process.arch}`;
  return reporter('versions')('ok', `Warmwarden ${version} on Node.js ${node} with SQLite ${sqlite}, ${machine}.`);
}

async function configuration(file: string, loaded: LoadedConfig): Promise<readonly Examined[]> {
  const line = reporter('configuration');
  if (!loaded.ok) return loaded.problems.map((problem) => line('problem', formatProblem(file, problem)));
  const { config, warnings } = loaded;
  const catalogue = await readCatalogue(config.recipes.directory);
  const { definitions, broken } = catalogue;
  const size = [counted(config.accounts.length, 'account'), counted(config.alerts.channels.length, 'channel')];
  return [
    line('ok', `${file} is valid: ${[...size, counted(definitions.size, 'recipe')].join(', ')}.`),
    ...warnings.map((warning) => line('warning', formatProblem(file, warning))),
    ...scheduleDoubts(catalogue).map((warning) => line('warning', warning)),
    ...broken.flatMap(({ problems }) => problems.map((problem) => line('problem', problem))),
  ];
}

/** Findings from the network. */
async function outside({ config }: ValidConfig, seen: SeenDaemon | null): Promise<readonly Examined[]> {
  const [accounts, channels] = await Promise.all([
    examineAccounts(config, seen),
    examineChannels(config.alerts, seen?.fleet.channels ?? null),
  ]);
  return [...accounts, ...channels];
}

async function storeOf(places: Extract<Places, { ok: true }>): Promise<StoreLines & DoctorFindings> {
  try {
    return { ...(await examineStore(places)), exitCode: exitDone };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { exitCode } = errorKinds[error.name === 'NewerStoreError' ? 'newer_store' : 'no_store'];
    const active = typeof places.store === 'string' ? null : unknownProcess;
    return { checks: [reporter('store')('problem', error.message)], active, exitCode };
  }
}

const isDigest = (secret: string) => /^[0-9a-f]{64}$/i.test(secret);

/** Finds out which files of the configuration every user can change, or read although secrets are written there. */
function examineFiles(file: string, loaded: ValidConfig): readonly Examined[] {
  const permission = reporter('permissions');
  const written = loaded.settings().filter(({ secret }) => secret !== null && !isDigest(secret));
  const holders = written.flatMap(({ from }) => (from.kind === 'file' ? [from.file ?? file] : []));
  const secret = new Set([...holders, ...loaded.secretFiles.keys()]);
  const wrong = [...new Set([file, ...loaded.included, ...secret])].flatMap((one) => {
    const ofEverybody = (statSync(one, { throwIfNoEntry: false })?.mode ?? 0) & (secret.has(one) ? 0o6 : 0o2);
    if ((ofEverybody & 0o2) !== 0)
      return permission('problem', `Every user can change ${one}: run \`chmod o-w ${one}\`.`);
    const said = `Every user can read the secrets in ${one}: run \`chmod o-r ${one}\`.`;
    return ofEverybody === 0 ? [] : permission('warning', said);
  });
  return wrong.length > 0 ? wrong : [permission('ok', 'The files of the configuration are protected.')];
}

function notKnown(part: DoctorPart): StoreLines & DoctorFindings {
  const why = 'Not checked, because the configuration has problems.';
  return { checks: [reporter(part)('skipped', why)], active: null, exitCode: exitDone };
}

/** Hides the secrets in the findings. Problems of a configuration hide their quotations themselves. */
function hidden(checks: readonly Examined[], loaded: LoadedConfig): readonly Examined[] {
  const secrets = new KnownSecrets();
  if (loaded.ok) secrets.learn(loaded.secrets);
  return checks.map((check) => ({ ...check, message: secrets.hide(check.message) }));
}

function linesOf({ checks, problems, warnings }: Report): readonly string[] {
  const width = Math.max(...checks.map(({ result }) => result.length));
  const lines = doctorParts.flatMap((part) => {
    const own = checks.filter((check) => check.part === part);
    return own.length === 0 ? [] : [part, ...own.map(({ result, message }) => `  ${result.padEnd(width)}  ${message}`)];
  });
  const sum = sentence(`${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`);
  return [...lines, problems + warnings === 0 ? 'Everything is in order.' : sum];
}
